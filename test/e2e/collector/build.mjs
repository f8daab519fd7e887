// Builds, once, what the end-to-end tests run: the OpAMP Supervisor and a small collector. Both come
// from their Go modules; the result stays in `bin/` beside this file until the versions change.
// Exit codes: 0 built or already there, 3 no Go here (the tests then skip, loudly), 1 the build failed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const bin = join(here, 'bin')
const SUPERVISOR = 'github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor'
const SUPERVISOR_VERSION = 'v0.149.0'
const BUILDER = 'go.opentelemetry.io/collector/cmd/builder@v0.149.0'

const manifest = readFileSync(join(here, 'builder.yaml'), 'utf8')
const stamp = createHash('sha256')
  .update(`${SUPERVISOR}@${SUPERVISOR_VERSION}\n${BUILDER}\n${manifest}`)
  .digest('hex')
const stampFile = join(bin, 'stamp')
const wanted = ['otelcol-e2e', 'opampsupervisor'].map((name) => join(bin, name))

function run(command, args, cwd) {
  const result = spawnSync(command, args, {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false -trimpath' },
  })
  if (result.status !== 0)
    throw new Error(`${command} ${args.join(' ')} ended with ${result.status ?? result.signal}`)
}

function build(work) {
  // A module of our own that requires the supervisor: `go install …@version` refuses modules with replacements.
  const module = join(work, 'supervisor')
  mkdirSync(module)
  run('go', ['mod', 'init', 'e2e'], module)
  run('go', ['get', `${SUPERVISOR}@${SUPERVISOR_VERSION}`], module)
  run('go', ['build', '-ldflags=-s -w', '-o', join(work, 'opampsupervisor'), SUPERVISOR], module)

  const collector = join(work, 'collector')
  const config = `${manifest.trimEnd().replace('dist:\n', `dist:\n  output_path: ${collector}\n`)}\n`
  writeFileSync(join(work, 'builder.yaml'), config)
  run('go', ['run', BUILDER, '--config', join(work, 'builder.yaml')], work)

  mkdirSync(bin, { recursive: true })
  for (const [from, to] of [
    [join(work, 'opampsupervisor'), join(bin, 'opampsupervisor')],
    [join(collector, 'otelcol-e2e'), join(bin, 'otelcol-e2e')],
  ]) {
    // Copied beside first, so that a half-written program never has the final name.
    run('cp', [from, `${to}.new`], here)
    renameSync(`${to}.new`, to)
  }
  writeFileSync(stampFile, stamp)
}

const isBuilt = wanted.every(existsSync) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp
if (!isBuilt) {
  if (spawnSync('go', ['version']).status !== 0) {
    console.error(
      '*** SKIPPED: Go is not here, so no real collector can be built and nothing was tested with one. ***',
    )
    process.exit(3)
  }
  const work = mkdtempSync(join(tmpdir(), 'muster-collector-'))
  try {
    console.log('Building the collector and its supervisor (once, about two minutes)')
    build(work)
  } catch (error) {
    console.error(`Building the collector failed: ${error.message}`)
    process.exitCode = 1
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
if (!process.exitCode) console.log('The collector and its supervisor are in test/e2e/collector/bin')
