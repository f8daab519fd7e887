import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runClient } from '../../../../runtime/cli/client.ts'

let folder: string
let service: Server
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-first-plan-'))
  await writeFile(
    join(folder, 'all.yaml'),
    'apiVersion: muster/v1\nkind: WorkloadConfig\nworkload: {id: w1}\nconfig: "receivers: {}"\n',
  )
  service = createServer((request, response) => {
    const path = request.url!.split('?')[0]!
    const found = path.endsWith('/desired')
      ? { action: 'propose', config_hash: 'h' }
      : path === '/api/workloads'
        ? [{ id: 'w1', display_name: 'shop', labels: {} }]
        : []
    request.resume().on('end', () => response.end(JSON.stringify(found)))
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
})
afterAll(async () => {
  service.closeAllConnections()
  service.close()
  await rm(folder, { recursive: true, force: true })
})

async function run(command: 'apply' | 'plan', ...more: string[]): Promise<string> {
  let out = ''
  const MUSTER_URL = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  const code = await runClient([command, folder, '--owner', 'o', ...more], {
    env: { PATH: process.env['PATH'], XDG_CONFIG_HOME: '/nonexistent', MUSTER_URL, MUSTER_TOKEN: 'mst_x' },
    out(text) {
      out += text
    },
    error() {},
    readInput: async () => Buffer.from(''),
    isTerminal: false,
  })
  expect(code).toBe(0)
  return out
}

it('a plan for a workload that nothing was pushed to says that it compares nothing, and where that is said', async () => {
  const said = await run('plan')
  expect(said).toMatch(/^shop: nothing was pushed there yet, .*the page of its request says/m)
  expect(JSON.parse(await run('plan', '-o', 'json')).steps).toMatchObject([{ not_compared: true }])
  expect(await run('apply')).not.toContain('nothing was pushed there yet')
})
