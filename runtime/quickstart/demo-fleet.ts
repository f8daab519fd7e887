// Runs the demo fleet: `demo-fleet <OpAMP URL> <file>`. What the agents were given last is kept in the file, as
// supervisors keep it on disk, so that a restart is not a new fleet.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { listDemoAgents } from './demo-agents.ts'
import { startSimulatedAgent } from './simulated-agent.ts'
import type { AgentStorage } from './simulated-collector.ts'

const [url = '', file = ''] = process.argv.slice(2)
const SAVE_EVERY_MS = 5_000

async function readStorage(): Promise<Record<string, AgentStorage>> {
  const text = await readFile(file, 'utf8').catch(() => '{}')
  return JSON.parse(text) as Record<string, AgentStorage>
}

const kept = await readStorage()
const agents = listDemoAgents().map(({ name, options }) => ({
  name,
  agent: startSimulatedAgent({
    ...options,
    url,
    secret: process.env['OPAMP_SHARED_SECRET'] ?? '',
    storage: kept[name] ?? null,
  }),
}))
console.log(`${agents.length} simulated agents connect to ${url}`)

async function save(): Promise<void> {
  const storage = Object.fromEntries(agents.map(({ name, agent }) => [name, agent.collector.storage]))
  await writeFile(`${file}.new`, JSON.stringify(storage), { mode: 0o600 })
  await rename(`${file}.new`, file)
}

const timer = setInterval(() => {
  save().catch((error: unknown) => console.error('cannot save what the agents were given', error))
}, SAVE_EVERY_MS)

async function stop(): Promise<void> {
  clearInterval(timer)
  await Promise.all(agents.map(({ agent }) => agent.stop()))
  await save()
  process.exit(0)
}

process.once('SIGTERM', stop)
process.once('SIGINT', stop)
// Whoever started the fleet is gone.
process.once('disconnect', stop)
