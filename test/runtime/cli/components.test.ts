import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runClient } from '../../../runtime/cli/client.ts'

const workload = { id: 'w1', display_name: 'gateway', version: '0.149.0', labels: {} }
const components = { receivers: ['otlp'], exporters: ['debug', 'otlp'] }
let available: object = {}
const server = createServer(({ url }, outgoing) => {
  const one = { ...workload, ...available }
  outgoing.end(JSON.stringify(url === '/api/workloads' ? [one] : one))
})
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-components-'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
})
afterAll(async () => {
  server.close()
  await rm(folder, { recursive: true })
})

async function run(input: string, ...args: string[]) {
  let said = ''
  const say = (text: string) => {
    said += text
  }
  const env = {
    MUSTER_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    MUSTER_TOKEN: `mst_${'y'.repeat(43)}`,
  }
  const io = { env, out: say, error: say, readInput: async () => Buffer.from(input), isTerminal: false }
  return { code: await runClient(args, io), said }
}

const config = (exporter: string) =>
  [
    'receivers: { otlp: { protocols: { grpc: {} } } }',
    `exporters: { ${exporter}: {} }`,
    `service: { pipelines: { traces: { receivers: [otlp], exporters: [${exporter}] } } }`,
  ].join('\n')

it('a config is checked offline against the components that a connected collector has said', async () => {
  available = { available_components: { components } }
  const list = join(folder, 'components.json')
  await writeFile(list, (await run('', 'get', 'components', 'gateway', '-o', 'json')).said)
  expect(await run(config('debug'), 'validate', '--components', list, '-')).toMatchObject({ code: 0 })
  const lacking = await run(config('kafka'), 'validate', '--components', list, '-')
  expect(lacking).toMatchObject({ code: 3, said: expect.stringContaining('component_not_installed') })
  expect((await run('', 'get', 'components', 'gateway')).said).toMatch(/^exporters +otlp$/m)
})

it('of a collector that has said nothing, nothing is guessed', async () => {
  available = {}
  const said = 'its collector has not said which components it has'
  expect(await run('', 'get', 'components', 'gateway')).toMatchObject({
    code: 1,
    said: expect.stringContaining(said),
  })
})
