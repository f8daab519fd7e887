import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { runProgram } from '../../../lib/configs/check/run-program.ts'
import { openRuntimeCheck } from '../../../lib/configs/check/runtime-check.ts'
import { hasWalls } from '../../../lib/configs/check/sandbox.ts'
import { validateConfig } from '../../../lib/configs/check/validate.ts'

const BINARY = fileURLToPath(new URL('./bin/otelcol-e2e', import.meta.url))
const canRun = inject('hasCollector') && (await hasWalls())

let folder = ''
let secret = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-trial-'))
  await chmod(folder, 0o755)
  secret = join(folder, 'secret')
  await writeFile(secret, 'sesame-in-a-file')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const draftOf = (exporter: string) => `receivers:
  otlp:
    protocols:
      http:
processors:
  memory_limiter:
    check_interval: 1s
    limit_percentage: 50
exporters:
  debug: ${exporter}
service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [memory_limiter]
      exporters: [debug]
`
const settings = { isEnabled: true, binaryPath: BINARY, searchPath: '', timeoutMs: 20_000, minVersion: '' }
const runtimeCheck = openRuntimeCheck(settings, systemClock)
const validate = (draft: string) =>
  validateConfig(
    draft,
    { target: null, requestedVersion: '', minimumVersion: '', validatedAt: new Date(0) },
    runtimeCheck,
  )

/** What the collector prints about a draft when it runs without the sandbox and without the checks before it. */
async function unwalled(draft: string): Promise<string> {
  await writeFile(join(folder, 'draft.yaml'), draft)
  const limits = { folder, timeoutMs: 20_000, outputBytesMax: 65_536 }
  return (await runProgram(BINARY, ['validate', '--config', 'draft.yaml'], limits)).stderr
}

describe.runIf(canRun)('a trial run by the real collector', () => {
  test('passes a config that it can run, references with defaults included', async () => {
    const result = await validate(draftOf("{ verbosity: '${env:NOPE:-detailed}' }"))
    expect(result.checks.at(-1)).toMatchObject({
      status: 'passed',
      metadata: { binary_version: '0.149.0', exit_code: 0 },
    })
  })

  test('fails one that it refuses, in its words', async () => {
    const result = await validate(draftOf('{ verbosity: loudest }'))
    expect(result.checks.at(-1)).toMatchObject({ status: 'failed', metadata: { exit_code: 1 } })
    expect(JSON.stringify(result.checks.at(-1))).toContain('loudest')
  })

  test.each([
    `'\${yaml:verbosity: "\\x24\\x7bfile:SECRET\\x7d"}'`,
    `'\${env:NOPE:-verbosity: "\\x24\\x7bfile:SECRET\\x7d"}'`,
    "{ verbosity: '${env:NOPE}$${env:NOPE}{file:SECRET}' }",
  ])('does not happen with a draft that leads it to a file: %s', async (attack) => {
    const draft = draftOf(attack.replace('SECRET', () => secret))
    expect(await unwalled(draft)).toContain('sesame-in-a-file')
    const result = await validate(draft)
    expect(result.checks.at(-1)).toMatchObject({
      status: 'skipped',
      messages: [{ code: 'otelcol_reference_refused' }],
    })
    expect(JSON.stringify(result)).not.toContain('sesame')
  })

  test('sees no file of the host, should a reference get past', async () => {
    for (const path of [secret, '/etc/passwd', `/proc/${process.pid}/environ`]) {
      const check = await runtimeCheck({
        text: draftOf(`{ verbosity: '\${file:${path}}' }`),
        references: { providers: [], areHarmless: true },
        targetVersion: '',
      })
      expect(check.status).toBe('failed')
      expect(JSON.stringify(check)).toContain('such file or directory')
      expect(JSON.stringify(check)).not.toMatch(/sesame|root:/)
    }
  })
})
