import { expect, it } from 'vitest'
import { STORES } from '../../../runtime/quickstart/demo-agents.ts'
import { type Call, makeHistory } from '../../../runtime/quickstart/demo-history.ts'

type Row = Record<string, unknown> & { id: string }
const NAMES = ['otel-gateway', 'otel-node', 'billing-collector', 'payments-collector', 'checkout-collector']
const STATUS_AFTER: Record<string, string> = {
  approve: 'approved',
  push: 'pushed',
  plan: 'planned',
  request: 'requested',
  start: 'running',
}

/** As much of the API as the history needs. The call that changes something as the `failing`th fails. */
class SmallApi {
  readonly lists = new Map<string, Row[]>()
  changes = 0
  failing = 0

  readonly call = (async (method: 'GET' | 'POST', path: string, body: Record<string, unknown> = {}) => {
    if (path === '/api/workloads') return this.#workloads()
    if (method === 'POST' && ++this.changes === this.failing) throw new Error('the service was stopped')
    const [, list = '', id, step = ''] =
      /^(.*?)(?:\/([a-z]+-\d+))?(?:\/(approve|push|plan|request|start))?$/.exec(path)!
    if (id !== undefined && (step !== '' || this.#row(list, id) !== undefined)) {
      const row = this.#row(list, id)!
      if (step !== '') row['status'] = STATUS_AFTER[step]
      return { ...row }
    }
    const rows = this.lists.get(path) ?? []
    if (method === 'GET') return rows.map((row) => ({ ...row }))
    if (path.endsWith('/hold')) rows.length = 0
    const status = path.endsWith('campaigns') ? 'draft' : 'pending'
    const row = { id: `row-${rows.length + 1}`, status, request_comment: body['comment'], ...body }
    this.lists.set(path, [...rows, row])
    return { ...row }
  }) as Call

  #row(list: string, id: string): Row | undefined {
    return this.lists.get(list)?.find((row) => row.id === id)
  }

  #workloads() {
    const stores = STORES.map((host) => ({
      id: host,
      display_name: 'store-collector',
      fingerprint_keys: { 'host.name': host },
    }))
    return [...NAMES.map((name) => ({ id: name, display_name: name, fingerprint_keys: {} })), ...stores]
  }
}

it('comes to the same history wherever an earlier try was cut off', async () => {
  const whole = new SmallApi()
  await makeHistory(whole.call)
  expect(whole.changes).toBeGreaterThan(20)
  for (let failing = 1; failing <= whole.changes; failing++) {
    const api = new SmallApi()
    api.failing = failing
    await expect(makeHistory(api.call)).rejects.toThrow('the service was stopped')
    await makeHistory(api.call)
    expect(Object.fromEntries(api.lists), `cut off at change ${failing}`).toEqual(
      Object.fromEntries(whole.lists),
    )
  }
})
