import { spawnSync } from 'node:child_process'
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLIENT_COMMANDS } from '../../../runtime/cli/names.ts'
import { HELP } from '../../../runtime/help.ts'
import { ROOT } from '../support/environment.ts'
import { readSarifSchema } from '../support/published-schemas.ts'

const FIXTURES = join(ROOT, 'test/fixtures/configs')
let folder: string
let program: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-e2e-client-'))
  // Only the client's own files are copied: no socket library, worker threads or pages lie beside them.
  program = join(folder, 'muster.mjs')
  const dist = process.env['MUSTER_E2E_DIST'] ?? join(ROOT, 'dist')
  const parts = (await readdir(dist)).filter((name) => name === 'muster.mjs' || name.startsWith('client-'))
  for (const name of parts) await cp(join(dist, name), join(folder, name))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

function muster(
  args: readonly string[],
  more: { input?: string; env?: NodeJS.ProcessEnv; cwd?: string } = {},
) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    encoding: 'utf8',
    cwd: FIXTURES,
    env: {},
    ...more,
  })
  return { code: status, out: stdout, error: stderr }
}

const BAD = `receivers:
  otlp:
    protocols:
      grpc:
exporters:
  debug:
  kafka:
    auth: { plain_text: { username: u, password: hunter2hunter2 } }
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [debug, nowhere]
`

const isSarif = readSarifSchema()

describe('muster validate', () => {
  test.skipIf(isSarif === null).each(['structure-misspelt.yaml', 'valid-gateway.yaml', 'yaml-tab-line.yaml'])(
    'writes SARIF that the schema of the format takes, of %s',
    (file) => {
      const log = JSON.parse(muster(['validate', '-o', 'sarif', file, 'valid-gateway.yaml']).out)
      expect(isSarif!(log), JSON.stringify(isSarif!.errors)).toBe(true)
      // The schema also refuses something.
      log.runs[0].results.push({ level: 'info', message: {} })
      expect(isSarif!(log)).toBe(false)
    },
  )

  test('says nothing is wrong with a config that is right', () => {
    const found = muster(['validate', 'valid-gateway.yaml'])
    expect(found).toEqual({ code: 0, out: 'valid-gateway.yaml: valid\n', error: '' })
  })

  test('says file, line and column of what is wrong, and refuses', () => {
    const { code, out } = muster(['validate', '-', 'valid-gateway.yaml'], { input: BAD })
    expect(code).toBe(3)
    expect(out).toMatch(/^-:13:26: error: .*nowhere.* \[\w+\]$/m)
    expect(out).toMatch(/^-: refused$/m)
    expect(out).toMatch(/^valid-gateway.yaml: valid$/m)
    const unreadable = muster(['validate', 'yaml-tab-line.yaml'])
    expect(unreadable.code).toBe(3)
    expect(unreadable.out).toMatch(/^yaml-tab-line.yaml:\d+:\d+: error: invalid YAML/m)
  })

  test('finds what a collector lacks that was asked for its components', async () => {
    const list = join(folder, 'components.yaml')
    await writeFile(
      list,
      [
        'buildinfo: { command: otelcol, description: OpenTelemetry Collector, version: 0.149.0 }',
        'receivers:\n  - name: otlp\n    module: example.com/otlp v0.149.0\n    stability: { logs: Stable }',
        'exporters:\n  - name: debug\n',
      ].join('\n'),
    )
    const { code, out } = muster(['validate', '--components', list, '-o', 'json', '-'], {
      input: BAD.replace(', nowhere', ''),
    })
    expect(code).toBe(3)
    const [{ isValid, findings }] = JSON.parse(out).files
    expect(isValid).toBe(false)
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: 'component_not_installed',
        path: 'exporters.kafka',
        line: 7,
        column: 3,
      }),
    )
    await writeFile(list, 'nothing: here\n')
    expect(muster(['validate', '--components', list, '-'], { input: BAD })).toMatchObject({ code: 1 })
  })

  test('holds configs to the policies, with the settings of the service', () => {
    const text = muster(['validate', '--environment', 'production', '-'], {
      input: BAD.replace(', nowhere', ''),
      env: { MUSTER_POLICY_REQUIRED_RESOURCE_ATTRIBUTES: 'team' },
    })
    expect(text.code).toBe(3)
    expect(text.out).toContain('team')
    expect(text.out).not.toContain('hunter2')
  })

  test('tells code hosts: SARIF and annotations', () => {
    const sarif = muster(['validate', '-o', 'sarif', 'structure-misspelt.yaml'])
    expect(sarif.code).toBe(3)
    const log = JSON.parse(sarif.out)
    expect(log).toMatchObject({ version: '2.1.0', runs: [{ tool: { driver: { name: 'muster' } } }] })
    const [run] = log.runs
    expect(run.results.length).toBeGreaterThan(0)
    for (const { ruleId, ruleIndex, level, message, locations } of run.results) {
      expect(run.tool.driver.rules[ruleIndex].id).toBe(ruleId)
      expect(['error', 'warning']).toContain(level)
      expect(message.text).not.toBe('')
      const { artifactLocation, region } = locations[0].physicalLocation
      expect(artifactLocation.uri).toBe('structure-misspelt.yaml')
      expect(region.startLine).toBeGreaterThan(0)
    }
    const annotations = muster(['validate', '-o', 'github', 'structure-misspelt.yaml']).out.trim().split('\n')
    expect(annotations).toHaveLength(run.results.length)
    for (const line of annotations)
      expect(line).toMatch(
        /^::(error|warning) file=structure-misspelt\.yaml,line=\d+,col=\d+,title=[\w.]+::[^\n]+$/,
      )
  })

  test.each([
    [['validate'], 'An argument is missing'],
    [['validate', '--nonsense', 'x'], 'Unknown option "--nonsense"'],
    [['validate', '-o', 'xml', 'x'], '--output must be text or json or sarif or github, found "xml"'],
    [['validate', 'x', '--components'], '--components needs a value'],
  ])('takes %j for wrong arguments', (args, message) => {
    const { code, error } = muster(args)
    expect(code).toBe(64)
    expect(error).toContain(message)
  })

  test('cannot read what is not there', () => {
    expect(muster(['validate', 'nowhere.yaml'])).toEqual({
      code: 1,
      out: '',
      error: 'muster validate: nowhere.yaml cannot be read (ENOENT)\n',
    })
  })
})

describe('the client', () => {
  test('is in the help, each command with one of its own', () => {
    for (const name of CLIENT_COMMANDS) {
      expect(HELP).toContain(`muster ${name} `)
      const { code, out } = muster([name, '--help'])
      expect(code).toBe(0)
      expect(out).toContain(`Usage: muster ${name}`)
    }
  })
})
