import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runClient } from '../../../runtime/cli/client.ts'
import { printTable, toLine } from '../../../runtime/cli/output.ts'

// The name that an agent gives itself is printed on people's terminals and in the logs of pipelines.
const HOSTILE =
  'edge ##vso[task.setvariable variable=a]b ##[add-mask]c\u001b]0;owned\u0007\u009b2J\n::error::from an agent\u202e'
const CONTROL = /[\p{Cc}\p{Cf}]/u
let compared: unknown = { valid: true, summary: { headline: HOSTILE }, human_summary: [] }
const server = createServer((incoming, outgoing) => {
  const path = incoming.url ?? ''
  const [status, body] = path.startsWith('/api/workloads/w1/config/desired')
    ? [409, { error: HOSTILE, code: 'managed_elsewhere' }]
    : path.startsWith('/api/workloads/w1/configs/')
      ? [200, { content: 'a: 1' }]
      : path === '/api/configs/diff'
        ? [200, compared]
        : path.startsWith('/api/workloads')
          ? [
              200,
              [
                {
                  id: 'w1',
                  display_name: HOSTILE,
                  status: 'odd',
                  active_config_hash: 'h',
                  open_alert_count: 0,
                },
              ],
            ]
          : [403, { error: HOSTILE, code: 'forbidden' }]
  outgoing.writeHead(status as number).end(JSON.stringify(body))
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve())))
afterAll(() => server.close())

const run = async (...args: string[]): Promise<string> => (await end(...args)).said

async function end(...args: string[]): Promise<{ code: number; said: string }> {
  let said = ''
  const say = (text: string) => {
    said += text
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = { MUSTER_URL: url, MUSTER_TOKEN: 'mst_x' }
  const code = await runClient(args, {
    env,
    out: say,
    error: say,
    readInput: async () => Buffer.from('a: 2'),
    isTerminal: true,
  })
  return { code, said }
}

describe('muster diff', () => {
  it('ends as refused where one of the configs cannot be read, and says which and where', async () => {
    const before = compared
    const diagnostics = [
      { side: 'target', code: 'yaml_parse', message: 'unclosed bracket at 1:12', severity: 'error' },
    ]
    compared = {
      valid: false,
      summary: { headline: 'No summary is available' },
      human_summary: [],
      diagnostics,
    }
    expect(await end('diff', 'w1', '-')).toEqual({
      code: 3,
      said: expect.stringContaining('standard input: unclosed bracket at 1:12'),
    })
    expect((await end('diff', 'w1', '-', '-o', 'json')).code).toBe(3)
    compared = before
    expect((await end('diff', 'w1', '-')).code).toBe(0)
  })
})

describe('what a service says', () => {
  it.each([
    ...[
      ['diff', 'w1', '-'],
      ['status', 'w1'],
      ['get', 'alerts'],
    ].map((args) => [args]),
    [['get', 'workloads', '-o', 'json']],
  ])('moves no cursor and begins no line, in %s', async (args) => {
    const said = await run(...args)
    expect(said).toContain('edge')
    const lines = said.split('\n')
    expect(lines.filter((line) => CONTROL.test(line))).toEqual([])
    expect(lines.filter((line) => line.startsWith('::') || /##\w*\[/.test(line))).toEqual([])
  })

  it.each([' ', '\t', '\u00a0', '\u1680', '\u2009', '\u202f', '\u3000', '\ufeff', ' \u2003'])(
    'gives no order to a log whose reader skips blanks at the beginning, %j',
    (blank) => {
      const line = toLine(`${blank}::add-mask::x`)
      expect(line).toContain('add-mask')
      expect(line.trimStart()).not.toMatch(/^::/)
    },
  )
})

describe('a table', () => {
  const table = (isTerminal: boolean, env: Record<string, string>) => {
    let said = ''
    const say = (text: string) => {
      said += text
    }
    const io = { env, out: say, error: say, readInput: async () => Buffer.from(''), isTerminal }
    printTable(
      io,
      ['workload', 'state'],
      [
        ['edge', 'failed'],
        ['gateway', 'applied'],
      ],
    )
    return said
  }
  const PLAIN = 'workload  state\nedge      failed\ngateway   applied\n'

  it('has colours on a terminal only, and none where NO_COLOR says so', () => {
    expect(table(true, {})).toContain('\u001b[31mfailed\u001b[0m')
    expect(table(true, { NO_COLOR: '' })).toContain('\u001b[31m')
    expect(table(true, { NO_COLOR: '1' })).toBe(PLAIN)
    expect(table(false, {})).toBe(PLAIN)
  })
})
