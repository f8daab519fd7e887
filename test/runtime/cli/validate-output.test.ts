import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runClient } from '../../../runtime/cli/client.ts'

// A pipeline validates what strangers propose, and its runner obeys lines of the log. GitHub's runner takes a line that
// begins with "::" for a command, Azure's one that holds "##vso[".

const HOSTILE = [
  'receivers:',
  '  "otlp/\\n::stop-commands::x\\n\\e[2J ##vso[task.prependpath]/tmp":',
  '    protocols: { grpc: {} }',
  'exporters: { debug: {} }',
  'service: { pipelines: { traces: { receivers: [otlp], exporters: [debug] } } }',
  '',
].join('\n')

const said = (...args: string[]) => saidOf(HOSTILE, ...args).then(({ out }) => out)

async function saidOf(input: string | Uint8Array, ...args: string[]) {
  let out = ''
  const say = (text: string) => {
    out += text
  }
  const io = { env: {}, isTerminal: false, out: say, error: say, readInput: async () => Buffer.from(input) }
  const code = await runClient(['validate', ...args], io)
  return { code, out }
}

const commandsIn = (out: string) =>
  out
    .split('\n')
    .filter(
      (line) =>
        (line.startsWith('::') && !line.startsWith('::error file=')) || /##\w*\[|[\p{Cc}]/u.test(line),
    )

it('has colours on a terminal only, and none where NO_COLOR says so, as tables have', async () => {
  const told = async (isTerminal: boolean, env: Record<string, string> = {}) => {
    let out = ''
    const say = (text: string) => {
      out += text
    }
    const io = {
      env,
      isTerminal,
      out: say,
      error: say,
      readInput: async () => Buffer.from('receivers: {}\n'),
    }
    await runClient(['validate', '-'], io)
    return out
  }
  expect(await told(true)).toContain('\u001b[31merror\u001b[0m')
  expect(await told(true, { NO_COLOR: '' })).toContain('\u001b[31m')
  for (const plain of [await told(true, { NO_COLOR: '1' }), await told(false)])
    expect(plain).not.toContain('\u001b')
})

it('refuses what is no UTF-8 on standard input as in a file: what is checked would not be what is there', async () => {
  const told = await saidOf(Buffer.from(`# caf\u00e9\n${HOSTILE}`, 'latin1'), '-')
  expect(told).toEqual({ code: 3, out: expect.stringContaining('standard input is no UTF-8') })
})

it('reads files only, and none to an end that it does not have: a link that somebody proposes may lead anywhere', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'muster-validate-'))
  try {
    const link = join(folder, 'gateway.yaml')
    await symlink('/dev/zero', link)
    const told = await saidOf('', link)
    expect(told).toEqual({ code: 1, out: expect.stringContaining(`${link} is no file`) })
  } finally {
    await rm(folder, { recursive: true })
  }
})

it('takes no config for right that is longer than the service takes', async () => {
  const right = HOSTILE.replace(/^ {2}"otlp.*":$/m, '  otlp:')
  const padded = (bytes: number) => `${right}#${'x'.repeat(bytes - right.length - 1)}`
  expect(await saidOf(padded(1_048_576), '-')).toMatchObject({ code: 0 })
  const told = await saidOf(padded(1_048_577), '-')
  expect(told).toEqual({ code: 1, out: expect.stringContaining('larger than the 1 MiB that muster takes') })
})

it.each(['text', 'json', 'sarif', 'github'])(
  'names what has a name of half a megabyte by its beginning (-o %s)',
  async (format) => {
    const long = 'é🎉'.repeat(80_000)
    const config = HOSTILE.replace('"otlp/', `"${long}": {}\n  "otlp/`).replace(
      'exporters:',
      `"${long}": {}\nexporters:`,
    )
    const { code, out } = await saidOf(config, '-o', format, '-')
    expect([code, out.length < 20_000, out.isWellFormed(), out.includes('é🎉é🎉')]).toEqual([
      3,
      true,
      true,
      true,
    ])
  },
)

describe('what muster validate prints', () => {
  it.each(['text', 'json', 'sarif', 'github'])(
    'holds no command to the pipeline from a key of a config (-o %s)',
    async (format) => {
      const out = await said('-o', format, '-')
      expect(out).toContain('stop-commands')
      expect(commandsIn(out)).toEqual([])
    },
  )

  it.each(['text', 'json', 'sarif', 'github'])('nor from the name of a file (-o %s)', async (format) => {
    const folder = await mkdtemp(join(tmpdir(), 'muster-validate-'))
    try {
      const file = join(folder, 'a\n::stop-commands::x ##vso[a]\u001b.yaml')
      await writeFile(file, HOSTILE)
      expect(commandsIn(await said('-o', format, file))).toEqual([])
      expect(commandsIn(await said('-o', format, join(folder, 'none\n::stop-commands::x ##vso[a]')))).toEqual(
        [],
      )
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
