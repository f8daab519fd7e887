import { constants } from 'node:fs'
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, isAbsolute, join } from 'node:path'
import type { Clock } from '../../clock.ts'
import { compareVersions, isBelowMinimum } from '../../model/versions.ts'
import { redactText } from '../redact/redact.ts'
import type { ProgramRun } from './run-program.ts'
import { FILES_FOLDER, namespaceSandbox, type Sandbox } from './sandbox.ts'
import type { RuntimeCheck } from './validate.ts'
import { buildCheck, type Check, type CheckMessage } from './validation-messages.ts'

/** Which collector binary the runtime check runs, and how. */
export interface RuntimeCheckSettings {
  isEnabled: boolean
  /** An absolute path, or a name that is looked up on `searchPath`. */
  binaryPath: string
  /** Folders, separated as in PATH. */
  searchPath: string
  /** For each of the two runs of the binary. */
  timeoutMs: number
  /** Empty when there is none. */
  minVersion: string
}

type Finding = Omit<CheckMessage, 'check_id'>

const NO_WALLS: Finding = {
  code: 'otelcol_sandbox_unavailable',
  severity: 'warning',
  message:
    'Not run, because this system does not let muster keep the collector away from its files and network (user namespaces).',
}

const WAITING_MAX = 4
/** The providers that a config may use to be given to the binary: these read neither files nor the network. */
const HARMLESS_PROVIDERS = new Set(['env', 'yaml'])
const VERSION = /^(\S{1,100})\s+version\s+v?(\d+\.\d+(?:\.\d+)?)/i

/**
 * The check that lets a collector binary on this machine read a config. Two things keep a config away from the machine:
 * it is not run when its references could read files or the network, and the binary has an empty environment, no
 * network and no files but the config and, unless it is linked statically, the system's programs and libraries. One
 * check runs at a time and four wait; any other is skipped.
 */
export function openRuntimeCheck(
  settings: RuntimeCheckSettings,
  clock: Clock,
  sandbox: Sandbox = namespaceSandbox,
): RuntimeCheck {
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()
  return async (request) => {
    if (!settings.isEnabled) {
      const message = 'Validation by a collector binary is switched off.'
      return skipped({ code: 'otelcol_runtime_disabled', severity: 'info', message })
    }
    const refused = request.references.providers.filter((name) => !HARMLESS_PROVIDERS.has(name))
    if (refused.length > 0) {
      const message = `Not run, because the config refers to ${refused.join(', ')}, which would read files or the network here.`
      return skipped({ code: 'otelcol_provider_refused', severity: 'warning', message })
    }
    if (!request.references.areHarmless) {
      const message =
        'Not run, because what its references turn into may refer to something else; values with a backslash, a tag or another reference are not followed here.'
      return skipped({ code: 'otelcol_reference_refused', severity: 'warning', message })
    }
    if (waiting > WAITING_MAX) {
      const message = 'Not run, because too many validations are waiting.'
      return skipped({ code: 'otelcol_runtime_unavailable', severity: 'warning', message })
    }
    waiting++
    const mine = last.then(() => checkWithBinary(request, settings, clock, sandbox))
    last = mine.catch(() => undefined)
    try {
      return await mine
    } finally {
      waiting--
    }
  }
}

function skipped(finding: Finding): Check {
  return buildCheck('otelcol_runtime', [finding], {}, 'skipped')
}

async function checkWithBinary(
  { text, targetVersion }: Parameters<RuntimeCheck>[0],
  settings: RuntimeCheckSettings,
  clock: Clock,
  sandbox: Sandbox,
): Promise<Check> {
  const binary = await findBinary(settings)
  if (binary === null) {
    const message = `The collector binary "${settings.binaryPath}" was not found or cannot be executed.`
    return skipped({ code: 'otelcol_not_found', severity: 'warning', message })
  }
  const started = clock.monotonicMs()
  let folder: string
  try {
    folder = await mkdtemp(join(tmpdir(), 'muster-validate-'))
  } catch {
    return unavailable()
  }
  try {
    await mkdir(join(folder, FILES_FOLDER))
    await writeFile(join(folder, FILES_FOLDER, 'config.yaml'), text, { mode: 0o600 })
    const limits = { binary, folder, timeoutMs: settings.timeoutMs, outputBytesMax: 65_536 }
    const asked = await sandbox({ ...limits, args: ['--version'] })
    if (asked.outcome === 'no-walls') return skipped(NO_WALLS)
    const version = readVersion(asked)
    const run = await sandbox({ ...limits, args: ['validate', '--config', 'config.yaml'] })
    if (run.outcome === 'no-walls') return skipped(NO_WALLS)
    const hide = (output: string) => hidePaths(redactText(output.trim()))
    const metadata = {
      command_mode: 'otelcol validate --config',
      ...(targetVersion === '' ? {} : { target_version: targetVersion }),
      binary_path: binary,
      ...(version ? { binary_version: version.number, binary_distribution: version.distribution } : {}),
      duration_ms: Math.round(clock.monotonicMs() - started),
      exit_code: run.exitCode,
      ...(run.stdout.trim() === '' ? {} : { stdout: hide(run.stdout) }),
      ...(run.stderr.trim() === '' ? {} : { stderr: hide(run.stderr) }),
    }
    const findings = versionFindings(version?.number ?? null, targetVersion, settings.minVersion)
    return buildCheck('otelcol_runtime', [...findings, verdict(run, settings, hide)], metadata)
  } catch {
    return unavailable()
  } finally {
    await rm(folder, { recursive: true, force: true }).catch(() => undefined)
  }
}

function unavailable(): Check {
  const message = 'The config could not be written for the collector binary.'
  return buildCheck('otelcol_runtime', [
    { code: 'otelcol_runtime_unavailable', severity: 'warning', message },
  ])
}

async function findBinary({ binaryPath, searchPath }: RuntimeCheckSettings): Promise<string | null> {
  const candidates =
    isAbsolute(binaryPath) || binaryPath.includes('/')
      ? [binaryPath]
      : searchPath
          .split(delimiter)
          .flatMap((folder) => (isAbsolute(folder) ? [join(folder, binaryPath)] : []))
  for (const candidate of candidates) {
    try {
      await access(candidate, constants.X_OK)
      return candidate
    } catch {
      // Looked for in the next folder.
    }
  }
  return null
}

function readVersion({ stdout, stderr }: ProgramRun): { distribution: string; number: string } | null {
  const match = VERSION.exec(stdout.trim()) ?? VERSION.exec(stderr.trim())
  return match ? { distribution: match[1]!, number: match[2]! } : null
}

function versionFindings(version: string | null, target: string, minimum: string): Finding[] {
  if (version === null) {
    const message = 'The version of the collector binary could not be read.'
    return [{ code: 'otelcol_version_unknown', severity: 'warning', message }]
  }
  const findings: Finding[] = []
  if (minimum !== '' && isBelowMinimum(version, minimum)) {
    const message = `The collector binary has version ${version}, below the configured minimum ${minimum}.`
    findings.push({ code: 'otelcol_too_old', severity: 'warning', message })
  }
  if (target !== '' && (compareVersions(version, target) ?? (version === target ? 0 : 1)) !== 0) {
    const message = `The collector binary has version ${version}, the target ${target}.`
    findings.push({ code: 'otelcol_version_mismatch', severity: 'warning', message })
  }
  return findings
}

function verdict(run: ProgramRun, settings: RuntimeCheckSettings, hide: (output: string) => string): Finding {
  if (run.outcome === 'timed-out') {
    const message = `The collector binary did not finish within ${settings.timeoutMs} ms.`
    return { code: 'otelcol_runtime_timeout', severity: 'warning', message }
  }
  if (run.outcome === 'not-started') {
    const message = 'The collector binary could not be started.'
    return { code: 'otelcol_runtime_unavailable', severity: 'warning', message }
  }
  if (run.exitCode === 0) {
    const message = 'The collector binary accepts the config.'
    return { code: 'otelcol_validation_passed', severity: 'info', message }
  }
  const cause = run.exitCode === -1 ? 'killed' : `exit status ${run.exitCode}`
  const output = (['stderr', 'stdout'] as const).flatMap((name) =>
    run[name].trim() === '' ? [] : [`${name}: ${hide(run[name])}`],
  )
  return { code: 'otelcol_validation_failed', severity: 'error', message: [cause, ...output].join('; ') }
}

function hidePaths(output: string): string {
  return output.replace(/(^|[\s"'(=,])\/(?:[^\s"'()/:,]+\/)*[^\s"'()/:,]+/g, '$1…')
}
