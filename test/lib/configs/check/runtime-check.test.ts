import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../../lib/clock.ts'
import { openRuntimeCheck, type RuntimeCheckSettings } from '../../../../lib/configs/check/runtime-check.ts'
import { MASK } from '../../../../lib/redact/redact.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-test-runtime-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A collector binary made of a shell script; `validate` is what it does when asked to validate. */
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
const run = (
  given: Partial<RuntimeCheckSettings>,
  request: { text?: string; providers?: string[]; targetVersion?: string } = {},
) =>
  openRuntimeCheck(
    settings(given),
    systemClock,
  )({ text: 'a: 1\n', providers: [], targetVersion: '0.149.0', ...request })
const codes = (check: { messages: Array<{ code: string }> }) => check.messages.map(({ code }) => code)

describe('the runtime check', () => {
  it('passes what the binary accepts, and gives it the text in a folder of its own that is gone afterwards', async () => {
    const seen = join(folder, 'seen')
    const binaryPath = await fakeCollector(
      'good',
      `pwd > ${seen}; cat "$3" >> ${seen}; ls -A | wc -l >> ${seen}`,
    )
    const check = await run({ binaryPath })
    expect(check).toMatchObject({
      id: 'otelcol_runtime',
      status: 'passed',
      metadata: {
        binary_version: '0.149.0',
        binary_distribution: 'otelcol',
        binary_path: binaryPath,
        exit_code: 0,
      },
    })
    const [workingFolder = '', text, count] = (await readFile(seen, 'utf8')).split('\n')
    expect([text, count?.trim()]).toEqual(['a: 1', '1'])
    await expect(readdir(workingFolder)).rejects.toThrow()
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
    const binaryPath = await fakeCollector('env', 'echo "${JWT_SECRET-none} ${HOME-none}"; exit 1')
    expect((await run({ binaryPath })).metadata?.['stdout']).toBe('none none')
  })

  it('ends at its time limit with everything the binary started', async () => {
    const pidFile = join(folder, 'pid')
    const binaryPath = await fakeCollector('slow', `sleep 60 & echo $! > ${pidFile}; wait`)
    const started = performance.now()
    const check = await run({ binaryPath, timeoutMs: 300 })
    expect(performance.now() - started).toBeLessThan(5_000)
    expect(check).toMatchObject({ status: 'warning', metadata: { exit_code: -1 } })
    expect(codes(check)).toEqual(['otelcol_runtime_timeout'])
    const pid = Number(await readFile(pidFile, 'utf8'))
    await expect.poll(() => isRunning(pid)).toBe(false)
  })

  it('does not wait for a process that the binary left behind', async () => {
    const binaryPath = await fakeCollector('daemon', 'sleep 60 &\nexit 0')
    const started = performance.now()
    expect((await run({ binaryPath })).status).toBe('passed')
    expect(performance.now() - started).toBeLessThan(4_000)
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
    const seen = join(folder, 'ran')
    const binaryPath = await fakeCollector('never', `touch ${seen}`)
    const refused = await run({ binaryPath }, { providers: ['env', 'file'] })
    expect(refused).toMatchObject({
      status: 'skipped',
      messages: [{ code: 'otelcol_provider_refused', severity: 'warning' }],
    })
    const off = await run({ binaryPath, isEnabled: false })
    expect(off).toMatchObject({
      status: 'skipped',
      messages: [{ code: 'otelcol_runtime_disabled', severity: 'info' }],
    })
    await expect(readFile(seen)).rejects.toThrow()
  })

  it('runs one at a time, lets four wait and turns the others away', async () => {
    const lock = join(folder, 'lock')
    const binaryPath = await fakeCollector('busy', `mkdir ${lock} || exit 9; sleep 0.05; rmdir ${lock}`)
    const check = openRuntimeCheck(settings({ binaryPath }), systemClock)
    const request = { text: 'a: 1\n', providers: [], targetVersion: '' }
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
    expect((await check(request)).status).toBe('passed')
  })
})

/** A process that ended counts as ended, also while nobody has asked for its exit status. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
