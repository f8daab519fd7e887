import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { runClient } from '../../../../runtime/cli/client.ts'

// A service is away for some seconds whenever another of its processes takes over, and pipelines run meanwhile.

type Answer = { status: number; text: string }

let folder: string
let service: Server
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-away-'))
  const document = (id: string) =>
    `apiVersion: muster/v1\nkind: WorkloadConfig\nworkload: {id: ${id}}\nconfig: "receivers: {}"\n`
  await writeFile(join(folder, 'all.yaml'), ['w1', 'w2'].map(document).join('---\n'))
  // Its seconds pass at once.
  const later = setTimeout
  const sooner = (work: () => void, ms?: number) => (ms === 1_000 ? setImmediate(work) : later(work, ms))
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(sooner as never)
})
afterEach(async () => {
  vi.restoreAllMocks()
  service.closeAllConnections()
  service.close()
  await rm(folder, { recursive: true, force: true })
})

const json = (status: number, body: unknown): Answer => ({ status, text: JSON.stringify(body) })
const AWAY = json(503, { error: 'no process of this fleet decides now', code: 'no_owner' })
const workload = (id: string) => ({ id, display_name: id, labels: {} })
const LIST = json(200, [workload('w1'), workload('w2')])

/** Run `muster apply` against a service that answers each call as `answer` says; `calls` counts those of the same path before. */
async function apply(answer: (path: string, calls: number) => Answer) {
  const seen = new Map<string, number>()
  service = createServer((request, response) => {
    const path = request.url!.split('?')[0]!
    const calls = seen.get(path) ?? 0
    seen.set(path, calls + 1)
    const { status, text } = answer(path, calls)
    request.resume().on('end', () => response.writeHead(status).end(text))
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  const said = { out: '', error: '' }
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  const env = {
    PATH: process.env['PATH'],
    XDG_CONFIG_HOME: '/nonexistent',
    MUSTER_URL: url,
    MUSTER_TOKEN: 'mst_x',
  }
  const exitCode = await runClient(['apply', folder, '--owner', 'o', '-o', 'json'], {
    env,
    out(text) {
      said.out += text
    },
    error(text) {
      said.error += text
    },
    readInput: async () => Buffer.from(''),
    isTerminal: false,
  })
  return { exitCode, ...said }
}

const DONE = json(200, { action: 'propose', approval_id: 'apr_1', config_hash: 'h' })
const stepsOf = (out: string) =>
  (JSON.parse(out) as { steps: { workload_id: string; action: string }[] }).steps.map(
    ({ workload_id: id, action }) => [id, action],
  )

const answerFor = (path: string) =>
  path === '/api/workloads' ? LIST : path.endsWith('/desired') ? DONE : json(200, [])

it('goes on where the service was away for a while amid its documents', async () => {
  const isAway = (path: string, calls: number) => path.includes('/w2/') && calls < 4
  const { exitCode, out } = await apply((path, calls) => (isAway(path, calls) ? AWAY : answerFor(path)))
  expect([exitCode, stepsOf(out)]).toEqual([
    0,
    [
      ['w1', 'propose'],
      ['w2', 'propose'],
    ],
  ])
})

it('says what it has requested where the service stays away', async () => {
  const { exitCode, out, error } = await apply((path) => (path.includes('/w2/') ? AWAY : answerFor(path)))
  expect([exitCode, stepsOf(out)]).toEqual([1, [['w1', 'propose']]])
  expect(error).toContain('no process of this fleet decides now')
})

it.each([
  ['nothing', ''],
  ['no value', 'null'],
  ['another shape', '{}'],
  ['a page', '<html>'],
])('says in one line that %s is no answer of muster', async (_, text) => {
  const { exitCode, error } = await apply(() => ({ status: 200, text }))
  expect(exitCode).toBe(1)
  expect(error).toContain('does not answer as muster does')
  expect(error).not.toContain('    at ')
})

it('requests nothing of a file that is no UTF-8', async () => {
  await writeFile(join(folder, 'b.yaml'), Buffer.from([0x61, 0xe9, 0x0a]))
  const { exitCode, error } = await apply(answerFor)
  expect([exitCode, error]).toEqual([3, expect.stringContaining('b.yaml is no UTF-8')])
})

it.each([
  ['too large for the service', json(413, { error: 'request body too large', code: 'body_too_large' })],
  ['of a workload that was deleted meanwhile', json(404, { error: 'workload not found' })],
])('a document that is %s keeps no other from being requested, and is named', async (_, refused) => {
  const { exitCode, out, error } = await apply((path) => (path.includes('/w1/') ? refused : answerFor(path)))
  expect([exitCode, error, stepsOf(out)]).toEqual([
    3,
    '',
    [
      ['w1', 'refused'],
      ['w2', 'propose'],
    ],
  ])
  expect(out).toContain('all.yaml:1: ')
})
