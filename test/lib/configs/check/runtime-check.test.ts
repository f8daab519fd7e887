import { readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../../lib/clock.ts'
import { runProgram } from '../../../../lib/configs/check/run-program.ts'
import { openRuntimeCheck, type RuntimeCheckSettings } from '../../../../lib/configs/check/runtime-check.ts'
import { hasWalls, namespaceSandbox, type Sandbox } from '../../../../lib/configs/check/sandbox.ts'
import { validateConfig } from '../../../../lib/configs/check/validate.ts'
import { MASK } from '../../../../lib/configs/redact/redact.ts'

/**
 * Whether this system has what the sandbox needs (user namespaces). Without it no collector is ever run, which is
 * tested below.
 */
const isWalled = await hasWalls()
if (!isWalled)
  console.warn('*** SKIPPED: this system has no user namespaces, so no collector was run behind walls. ***')

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-test-runtime-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Make a collector program from a shell script; `validate` is what it runs as its `validate` command. */
async function fakeCollector(
  name: string,
  validate: string,
  version = 'otelcol version 0.149.0',
): Promise<string> {
  const path = join(folder, name)
  const script = `#!/bin/sh\nif [ "$1" = --version ]; then echo "${version}"; exit 0; fi\n${validate}\n`
  await writeFile(path, script, { mode: 0o755 })
  return path
}

const settings = (given: Partial<RuntimeCheckSettings>): RuntimeCheckSettings => ({
  isEnabled: true,
  binaryPath: 'otelcol',
  searchPath: '',
  timeoutMs: 5_000,
  minVersion: '',
  ...given,
})
const harmless = (...providers: string[]) => ({ providers, areHarmless: true })
const run = (
  given: Partial<RuntimeCheckSettings>,
  request: { text?: string; references?: ReturnType<typeof harmless>; targetVersion?: string } = {},
) =>
  openRuntimeCheck(
    settings(given),
    systemClock,
  )({ text: 'a: 1\n', references: harmless(), targetVersion: '0.149.0', ...request })
const codes = (check: { messages: Array<{ code: string }> }) => check.messages.map(({ code }) => code)

/** The folders of trial runs in the folder for temporary files that were not removed. */
const leftBehind = () => readdirSync(tmpdir()).filter((name) => name.startsWith('muster-validate-'))

describe.runIf(isWalled)('the runtime check', () => {
  it('passes what the binary accepts, and gives it the text in a folder of its own that is gone afterwards', async () => {
    const before = leftBehind()
    const binaryPath = await fakeCollector('good', 'cat "$3"; ls -A | wc -l')
    const check = await run({ binaryPath })
    expect(check).toMatchObject({
      id: 'otelcol_runtime',
      status: 'passed',
      metadata: {
        binary_version: '0.149.0',
        binary_distribution: 'otelcol',
        binary_path: binaryPath,
        exit_code: 0,
        stdout: 'a: 1\n1',
      },
    })
    expect(leftBehind()).toEqual(before)
  })

  it('fails what the binary refuses, without secrets and paths in its words', async () => {
    const binaryPath = await fakeCollector(
      'bad',
      'echo "cannot read $3: api_key: hunter2 at /etc/otel/secret.yaml" >&2; exit 3',
    )
    const check = await run({ binaryPath })
    expect(check.status).toBe('failed')
    expect(codes(check)).toEqual(['otelcol_validation_failed'])
    expect(check.messages[0]?.message).toMatch(/^exit status 3; stderr: /)
    expect(check.metadata?.['stderr']).toContain(MASK)
    expect(JSON.stringify(check)).not.toMatch(/hunter2|\/etc\/otel|muster-validate/)
  })

  it('gives the binary an empty environment', async () => {
    const binaryPath = await fakeCollector(
      'env',
      'echo "${JWT_SECRET-none} ${HOME-none} ${TMPDIR-none}"; exit 1',
    )
    expect((await run({ binaryPath })).metadata?.['stdout']).toBe('none none none')
  })

  it('ends at its time limit with everything the binary started', async () => {
    // An unusual number of seconds, by which these processes are found, and more than this test may take.
    const binaryPath = await fakeCollector('slow', 'sleep 60.2718281 & setsid sleep 60.2718281 & wait')
    const check = await run({ binaryPath, timeoutMs: 300 })
    expect(check).toMatchObject({ status: 'warning', metadata: { exit_code: -1 } })
    // On a busy machine its version may not come within that limit either.
    expect(codes(check)).toContain('otelcol_runtime_timeout')
    await expect.poll(() => running('60.2718281')).toEqual([])
  })

  it('does not wait for a process that the binary left behind', async () => {
    // That one lives for longer than this test may take.
    const binaryPath = await fakeCollector('daemon', 'sleep 60 &\nexit 0')
    expect((await run({ binaryPath })).status).toBe('passed')
  })

  it('keeps no more than 64 KiB of what the binary says', async () => {
    const binaryPath = await fakeCollector(
      'loud',
      'i=0; while [ $i -lt 3000 ]; do echo "0123456789012345678901234567890123456789012345678901234567890123"; i=$((i+1)); done; exit 1',
    )
    expect(String((await run({ binaryPath })).metadata?.['stdout']).length).toBeLessThanOrEqual(65_536)
  })

  it('warns of versions that do not fit', async () => {
    const binaryPath = await fakeCollector('old', '', 'otelcol-contrib version v0.99.1')
    const check = await run({ binaryPath, minVersion: '0.100.0' })
    expect(check.status).toBe('warning')
    expect(codes(check)).toEqual(['otelcol_too_old', 'otelcol_version_mismatch', 'otelcol_validation_passed'])
    const silent = await fakeCollector('silent', '', 'hello')
    expect(codes(await run({ binaryPath: silent }))).toEqual([
      'otelcol_version_unknown',
      'otelcol_validation_passed',
    ])
  })

  it('finds a bare name on the search path, and says when there is none', async () => {
    await fakeCollector('otelcol-here', '')
    const found = await run({ binaryPath: 'otelcol-here', searchPath: `/nowhere:${folder}` })
    expect(found.status).toBe('passed')
    const check = await run({ binaryPath: 'otelcol-not-here', searchPath: folder })
    expect(check.status).toBe('skipped')
    expect(check.messages).toMatchObject([{ code: 'otelcol_not_found', severity: 'warning' }])
    expect(check.messages[0]?.message).toContain('"otelcol-not-here"')
  })

  it('runs nothing that refers to files or the network, and nothing when it is off', async () => {
    const binaryPath = await fakeCollector('never', 'echo ran')
    const refused = await run({ binaryPath }, { references: harmless('env', 'file') })
    expect(refused).toMatchObject({
      status: 'skipped',
      messages: [{ code: 'otelcol_provider_refused', severity: 'warning' }],
    })
    const off = await run({ binaryPath, isEnabled: false })
    expect(off).toMatchObject({
      status: 'skipped',
      messages: [{ code: 'otelcol_runtime_disabled', severity: 'info' }],
    })
    for (const check of [refused, off]) expect(check.metadata).toBeUndefined()
  })

  it('keeps the collector from files and the network, should a reference get past', async () => {
    const secret = join(folder, 'secret')
    await writeFile(secret, 'sesame-in-a-file')
    const server = createServer((socket) => {
      reached++
      socket.destroy()
    })
    let reached = 0
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const binaryPath = await expandingCollector()
    for (const path of [secret, '/etc/passwd', `/proc/${process.pid}/environ`, `/proc/1/root${secret}`]) {
      const text = `port: ${port}\na: '\${file:${path}}'\n`
      const check = await run({ binaryPath }, { text })
      expect(check.status).toBe('failed')
      expect(check.metadata?.['stderr']).toContain('refused:')
      expect(check.metadata?.['stderr']).toMatch(/ENOENT/)
      expect(check.metadata?.['stdout']).toContain('sees {"home":[],"root":[],"etc":[]}')
      expect(JSON.stringify(check)).not.toMatch(/sesame|reached/)
    }
    await new Promise((resolve) => server.close(resolve))
    expect(reached).toBe(0)
  })

  it.each([
    `\${yaml:verbosity: "\\x24\\x7bfile:SECRET\\x7d"}`,
    `\${env:NOPE:-verbosity: "\\x24\\x7bfile:SECRET\\x7d"}`,
    '${env:NOPE}$${env:NOPE}{file:SECRET}',
  ])('does not run %s, which the collector would follow to a file', async (attack) => {
    const secret = join(folder, 'secret-of-the-host')
    await writeFile(secret, 'sesame-in-a-file')
    const binaryPath = await expandingCollector()
    const draft = GATEWAY.replace('ATTACK', () => `'${attack.replace('SECRET', secret)}'`)
    const about = { target: null, requestedVersion: '', minimumVersion: '', validatedAt: new Date(0) }
    const result = await validateConfig(draft, about, openRuntimeCheck(settings({ binaryPath }), systemClock))
    expect(result.checks.at(-1)).toMatchObject({
      id: 'otelcol_runtime',
      status: 'skipped',
      messages: [{ code: 'otelcol_reference_refused', severity: 'warning' }],
    })
    expect(JSON.stringify(result)).not.toContain('sesame')
    // The same program does reveal it when it runs without the sandbox and without the checks before it.
    await writeFile(join(folder, 'draft.yaml'), draft)
    const told = await runProgram(binaryPath, ['validate', '--config', 'draft.yaml'], {
      folder,
      timeoutMs: 10_000,
      outputBytesMax: 65_536,
    })
    expect(told.stderr).toContain('sesame-in-a-file')
  })
})

describe('the runtime check on any system', () => {
  it('runs nothing where there are no walls, and says so', async () => {
    const given: string[][] = []
    const noWalls: Sandbox = async ({ args }) => {
      given.push([...args])
      return { outcome: 'no-walls' }
    }
    const binaryPath = await fakeCollector('unwalled', 'echo ran')
    const check = await openRuntimeCheck(
      settings({ binaryPath }),
      systemClock,
      noWalls,
    )({
      text: 'a: 1\n',
      references: harmless(),
      targetVersion: '',
    })
    expect(check).toMatchObject({
      status: 'skipped',
      messages: [{ code: 'otelcol_sandbox_unavailable', severity: 'warning' }],
    })
    expect(check.metadata).toBeUndefined()
    expect(given).toEqual([['--version']])
    expect(leftBehind()).toEqual([])
  })

  it('has no walls when the tools that put them up fail', async () => {
    const limits = { folder: join(folder, 'not-there'), timeoutMs: 5_000, outputBytesMax: 100 }
    await mkdir(limits.folder)
    // A part of the folder that the sandbox has to show is missing, so that it cannot be set up.
    const run = await namespaceSandbox({ binary: '/bin/sh', args: ['-c', 'echo ran'], ...limits })
    expect(run).toEqual({ outcome: 'no-walls' })
  })

  it('runs one at a time, lets four wait and turns the others away', async () => {
    let underWay = 0
    let most = 0
    const slow: Sandbox = async () => {
      most = Math.max(most, ++underWay)
      await new Promise((resolve) => setImmediate(resolve))
      underWay--
      return { outcome: 'ended', exitCode: 0, stdout: 'otelcol version 0.149.0', stderr: '' }
    }
    const binaryPath = await fakeCollector('busy', '')
    const check = openRuntimeCheck(settings({ binaryPath }), systemClock, slow)
    const request = { text: 'a: 1\n', references: harmless(), targetVersion: '' }
    const answers = await Promise.all(Array.from({ length: 7 }, () => check(request)))
    expect(answers.map(({ status }) => status).sort()).toEqual([
      'passed',
      'passed',
      'passed',
      'passed',
      'passed',
      'skipped',
      'skipped',
    ])
    expect(most).toBe(1)
    expect((await check(request)).status).toBe('passed')
  })
})

const GATEWAY = `receivers:
  otlp:
exporters:
  debug: ATTACK
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [debug]
`

/** Bundle the stand-in for a collector that expands references and prints what they became. */
async function expandingCollector(): Promise<string> {
  const outfile = join(folder, 'expanding')
  await build({
    entryPoints: [fileURLToPath(new URL('../../../support/expanding-collector.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    logLevel: 'silent',
    banner: { js: `#!${process.execPath}` },
  })
  await chmod(outfile, 0o755)
  return outfile
}

/** The processes that run with this among their arguments. A zombie counts as ended. */
function running(argument: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      const isZombie = /^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
      const name = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      return !isZombie && name[0] === 'sleep' && name.includes(argument)
    } catch {
      return false
    }
  })
}
