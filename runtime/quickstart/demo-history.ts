import {
  CHECKOUT_DRAFT,
  GATEWAY_CONFIG,
  LEGACY_CONFIG,
  NODE_CONFIG,
  PAYMENTS_CONFIG,
  STORE_SERVICE,
  STORES,
} from './demo-agents.ts'
import { makeStores } from './demo-stores.ts'
import type { QuickStartSettings } from './settings.ts'

/** What is pushed at the first start, so that there is a history to look at and a good config to go back to. */
const PUSHES = [
  { workload: 'otel-gateway', yaml: GATEWAY_CONFIG, comment: 'Bring the gateway under management' },
  { workload: 'otel-node', yaml: NODE_CONFIG, comment: 'Bring the node agents under management' },
  { workload: 'billing-collector', yaml: LEGACY_CONFIG, comment: 'Bring billing under management' },
  { workload: 'payments-collector', yaml: PAYMENTS_CONFIG, comment: 'Bring payments under management' },
]
const WAITING = {
  workload: 'checkout-collector',
  yaml: CHECKOUT_DRAFT,
  comment: 'Keep a quarter of the traces',
}

/** Examples of push groups; no workload has their labels until somebody sets them. */
const GROUPS = [
  {
    id: 'prod-eu',
    name: 'Production EU collectors',
    description: 'Production collectors in the EU cluster',
    selector: { match_labels: { 'muster/cluster': 'prod-eu', 'muster/env': 'prod' }, types: ['collector'] },
  },
  {
    id: 'staging',
    name: 'Staging collectors',
    description: 'Collectors serving staging environments',
    selector: { match_labels: { 'muster/env': 'staging' }, types: ['collector'] },
  },
  {
    id: 'edge',
    name: 'Edge collectors',
    description: 'Collectors deployed at the edge tier',
    selector: { match_labels: { 'muster/tier': 'edge' }, types: ['collector'] },
  },
  {
    id: 'payments',
    name: 'Payments collectors',
    description: 'Production payment pipeline collectors',
    selector: { match_labels: { 'muster/env': 'prod', 'muster/team': 'payments' }, types: ['collector'] },
  },
]

const PATIENCE_MS = 20_000

interface ListedWorkload {
  id: string
  display_name: string
  status: string
  fingerprint_keys: Record<string, string>
}

/** Calls the API as the administrator. */
export type Call = <T>(method: 'GET' | 'POST', path: string, body?: unknown) => Promise<T>

/** Sign in, and return what calls the API as the administrator. Its promise rejects on anything but success. */
async function signIn(url: string, settings: QuickStartSettings): Promise<Call> {
  const send = async (method: string, path: string, body: unknown, token: string) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok)
      throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
    return response.json()
  }
  const login = { email: settings.adminEmail, password: settings.adminPassword }
  const { token } = (await send('POST', '/api/auth/login', login, '')) as { token: string }
  return (method, path, body) => send(method, path, body, token) as Promise<never>
}

/** Wait until every workload of the demo is connected. Resolves with their ids by name, those of the stores by host. */
async function waitForFleet(call: Call): Promise<Map<string, string>> {
  const wanted = [...[...PUSHES, WAITING].map(({ workload }) => workload), ...STORES]
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const listed = await call<ListedWorkload[]>('GET', '/api/workloads')
    const live = new Map(
      listed.filter(({ status }) => status !== 'disconnected').map((one) => [nameOf(one), one.id]),
    )
    if (wanted.every((name) => live.has(name))) return live
    if (performance.now() > deadline) throw new Error('the demo fleet did not connect')
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

const nameOf = ({ display_name, fingerprint_keys }: ListedWorkload): string =>
  display_name === STORE_SERVICE ? (fingerprint_keys['host.name'] ?? '') : display_name

/**
 * Give the demo fleet its first configs the way a user would, and leave one request to be decided. What an earlier call
 * made before it failed is found, and not made again.
 */
export const makeDemoHistory = async (url: string, settings: QuickStartSettings): Promise<void> =>
  makeHistory(await signIn(url, settings))

/** As `makeDemoHistory`, by what calls the API. */
export async function makeHistory(call: Call): Promise<void> {
  const had = new Set((await call<{ id: string }[]>('GET', '/api/push-groups')).map(({ id }) => id))
  for (const group of GROUPS) if (!had.has(group.id)) await call('POST', '/api/push-groups', group)
  const ids = await waitForFleet(call)
  for (const { workload, yaml, comment } of PUSHES) {
    const path = `/api/workloads/${ids.get(workload)}/config/approvals`
    const draft = { draft_yaml: yaml, target_group: 'single', target_env: 'staging', comment }
    const { id, status } = await askOnce(call, path, draft)
    if (status === 'pending') await call('POST', `${path}/${id}/approve`, { comment: 'As it runs today' })
    if (status !== 'pushed') await call('POST', `${path}/${id}/push`, { comment })
  }
  await askOnce(call, `/api/workloads/${ids.get(WAITING.workload)}/config/approvals`, {
    draft_yaml: WAITING.yaml,
    target_group: 'single',
    target_env: 'production',
    comment: WAITING.comment,
    prod_confirmation: true,
  })
  await makeStores(call, ids)
}

/** The request with this comment; it is made where there is none. */
async function askOnce(
  call: Call,
  path: string,
  draft: { comment: string } & Record<string, unknown>,
): Promise<{ id: string; status: string }> {
  const asked = await call<{ id: string; status: string; request_comment: string }[]>('GET', path)
  const found = asked.find(({ request_comment: comment }) => comment === draft.comment)
  return found ?? call('POST', path, draft)
}
