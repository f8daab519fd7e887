import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runClient } from '../../../../runtime/cli/client.ts'

// Any agent may say that it has the labels of another one: what it makes unclear is one document, not the whole run.

const workload = (id: string, labels: Record<string, string>) => ({
  id,
  display_name: id,
  labels,
  fingerprint_keys: {},
})
const all = [workload('w1', {}), workload('w2', { team: 'shop' }), workload('liar', { team: 'shop' })]
let called: string[]
let folder: string
let url: string

beforeEach(async () => {
  called = []
  folder = await mkdtemp(join(tmpdir(), 'muster-targets-'))
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    called.push(`${request.method} ${path}`)
    const answer = path.startsWith('/api/workloads?')
      ? all
      : path.startsWith('/api/managed-configs')
        ? ['w2', 'w3'].map((id) => ({ workload_id: id, config_hash: 'h' }))
        : path === '/api/fleet-configs?ran_commits=true'
          ? []
          : { workload_id: 'w1', action: 'unchanged' }
    response.end(JSON.stringify(answer))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return async () => {
    server.close()
    await rm(folder, { recursive: true })
  }
})

/** Whom a run let go of; by default none may be. */
let letGo: string[] = []
afterEach(() => {
  const gone = called.filter((call) => call.startsWith('DELETE'))
  expect(gone).toEqual(letGo.map((id) => `DELETE /api/workloads/${id}/config/desired?owner=us`))
  letGo = []
})

async function apply(documents: Record<string, string>, ...args: string[]) {
  for (const [name, target] of Object.entries(documents)) {
    const text = `apiVersion: muster/v1\nkind: WorkloadConfig\nworkload: ${target}\nconfig: 'a: 1'\n`
    await writeFile(join(folder, name), text)
  }
  let out = ''
  let said = ''
  const io = {
    env: { MUSTER_URL: url, MUSTER_TOKEN: 'mst_x' },
    isTerminal: false,
    out: (text: string) => {
      out += text
    },
    error: (text: string) => {
      said += text
    },
    readInput: async () => Buffer.from(''),
  }
  const code = await runClient(['apply', folder, '--owner', 'us', '-o', 'json', ...args], io)
  const { steps } = JSON.parse(out || '{"steps":[]}') as {
    steps: { workload: string; action: string; reason?: string }[]
  }
  return { code, said, steps, actions: steps.map(({ workload: name, action }) => `${name} ${action}`) }
}

describe('a document whose workload is unclear', () => {
  it.each([
    ['labels that several have', '{ labels: { team: shop } }', '2 workloads have these labels'],
    ['labels that none has', '{ labels: { team: nobody } }', 'no workload has these labels'],
    ['an id that none has', '{ id: w9 }', 'no workload has the id'],
  ])('is refused, and keeps no other one from being requested: %s', async (_, target, reason) => {
    const { code, steps, actions } = await apply({ 'a.yaml': target, 'b.yaml': '{ id: w1 }' })
    expect(code).toBe(3)
    expect(actions).toContain('w1 unchanged')
    const refused = steps.filter(({ action }) => action === 'refused')
    expect(refused).toEqual([expect.objectContaining({ reason: expect.stringContaining(reason) })])
    expect(called).toContain('POST /api/workloads/w1/config/desired')
  })

  it('keeps every workload from being let go, since it may mean that one', async () => {
    const { actions } = await apply({ 'a.yaml': '{ labels: { team: shop } }' }, '--prune')
    expect(actions).toContain('w3 leftover')
    expect(actions.filter((one) => one.startsWith('w2'))).toEqual([])
  })

  it('keeps none that is named by its id from being requested', async () => {
    all[1] = workload('w2', {})
    const { actions } = await apply({ 'a.yaml': '{ id: liar }', 'b.yaml': '{ labels: { team: shop } }' })
    all[1] = workload('w2', { team: 'shop' })
    expect(actions).toContain('liar unchanged')
    expect(actions).toContain('team=shop refused')
  })

  it('is each of two that name the same workload', async () => {
    const { actions } = await apply({ 'a.yaml': '{ id: w1 }', 'b.yaml': '{ id: w1 }' })
    expect(actions.filter((one) => one === 'w1 refused')).toHaveLength(2)
    expect(called.filter((call) => call.startsWith('POST'))).toEqual([])
  })
})

describe('a folder that holds no document', () => {
  it('lets go of nothing by itself, and says how that is meant', async () => {
    for (const args of [[], ['--prune']]) {
      const { code, said, steps } = await apply({}, ...args)
      expect({ code, steps }).toEqual({ code: 1, steps: [] })
      expect(said).toContain('holds no document of muster/v1')
      expect(said).toContain('--prune --empty')
    }
    expect(called).toEqual([])
  })

  it('lets go of all that its owner keeps where that is said', async () => {
    letGo = ['w2', 'w3']
    const { code, actions } = await apply({}, '--prune', '--empty')
    expect(code).toBe(0)
    expect(actions).toEqual(['w2 released', 'w3 released'])
  })

  it('may be missing then, as where Git holds nothing of it any more', async () => {
    await rm(folder, { recursive: true })
    expect(await apply({}, '--prune')).toMatchObject({ code: 1, said: expect.stringContaining('ENOENT') })
    letGo = ['w2', 'w3']
    expect((await apply({}, '--prune', '--empty')).actions).toEqual(['w2 released', 'w3 released'])
    await mkdir(folder)
  })

  it('is no folder with documents, and nothing is let go of without --prune', async () => {
    const { code, said } = await apply({ 'a.yaml': '{ id: w1 }' }, '--prune', '--empty')
    expect(code).toBe(1)
    expect(said).toContain('holds documents')
    await rm(join(folder, 'a.yaml'))
    expect(await apply({}, '--empty')).toMatchObject({ code: 64, said: expect.stringContaining('--prune') })
    expect(called).toEqual([])
  })
})
