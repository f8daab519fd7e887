import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runClient } from '../../../runtime/cli/client.ts'

const workload = (id: string, name: string, keys: Record<string, string>) => ({
  id,
  display_name: name,
  fingerprint_keys: keys,
  status: 'connected',
  version: '0.149.0',
  connected_instance_count: 1,
})
const ALL = [
  workload('w1', 'store-collector', { 'host.name': 'store-12' }),
  workload('w2', 'store-collector', { 'host.name': 'store-13' }),
  workload('w3', 'gateway', { namespace: 'shop' }),
  workload('w4', 'edge', { namespace: 'shop' }),
  workload('w5', 'ledger', { namespace: 'bank', cluster: 'eu-1' }),
  workload('w7', 'collector', { namespace: 'payments' }),
  workload('w8', 'payments', { 'host.name': 'store-14' }),
  workload('w6', 'ledger', { namespace: 'bank', cluster: 'us-1' }),
]
const asked: string[] = []
const server = createServer((incoming, outgoing) => {
  asked.push(incoming.url ?? '')
  outgoing.end(JSON.stringify(incoming.url === '/api/workloads' ? ALL : []))
})

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve())))
afterAll(() => void server.close())

async function run(...args: string[]): Promise<{ code: number; said: string }> {
  let said = ''
  const say = (text: string) => {
    said += text
  }
  const env = {
    MUSTER_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    MUSTER_TOKEN: `mst_${'y'.repeat(43)}`,
  }
  const io = { env, out: say, error: say, readInput: async () => Buffer.from(''), isTerminal: true }
  return { code: await runClient(args, io), said }
}

describe('workloads of one name', () => {
  it('are listed with their places', async () => {
    const { said } = await run('get', 'workloads')
    expect(said.split('\n')[0]).toMatch(/^NAME +PLACE +STATUS/)
    expect(said).toMatch(/store-collector +store-13 /)
  })

  it('are found by the place in which only one of them is', async () => {
    expect((await run('get', 'instances', 'store-13')).code).toBe(0)
    expect(asked.at(-1)).toBe('/api/workloads/w2/instances')
    expect((await run('get', 'instances', 'gateway')).code).toBe(0)
    expect(asked.at(-1)).toBe('/api/workloads/w3/instances')
    expect((await run('get', 'instances', 'us-1/bank')).code).toBe(0)
    expect(asked.at(-1)).toBe('/api/workloads/w6/instances')
    // As the console writes it: where two have a name and two are in a place, only both together tell.
    for (const [named, id] of [
      ['us-1/bank/ledger', 'w6'],
      ['shop/edge', 'w4'],
      ['store-13/store-collector', 'w2'],
    ]) {
      expect((await run('get', 'instances', named!)).code).toBe(0)
      expect(asked.at(-1)).toBe(`/api/workloads/${id}/instances`)
    }
  })

  it('are not guessed: it says what tells them apart', async () => {
    expect((await run('status', 'store-collector')).said).toContain(
      '2 workloads are called "store-collector": say one of store-12/store-collector (id w1), store-13/store-collector (id w2)\n',
    )
    // Many clusters have the same namespaces.
    expect((await run('status', 'ledger')).said).toContain(
      'eu-1/bank/ledger (id w5), us-1/bank/ledger (id w6)',
    )
    expect((await run('status', 'shop')).said).toContain(
      'say one of shop/gateway (id w3), shop/edge (id w4)\n',
    )
    // One says of itself the name by which people know another.
    expect((await run('status', 'payments')).said).toContain(
      'say one of payments/collector (id w7), store-14/payments (id w8)',
    )
    expect((await run('status', 'nobody')).said).toContain('no workload is called "nobody"')
  })
})
