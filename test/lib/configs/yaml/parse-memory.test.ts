import { describe, expect, it } from 'vitest'
import { type ConfigJob, runConfigJob } from '../../../../lib/configs/jobs.ts'
import { readTemplate } from '../../../../lib/configs/render/template.ts'
import { parseConfig } from '../../../../lib/configs/yaml/parse.ts'
import { rememberConfigs, rememberTexts } from '../../../../lib/configs/yaml/parse-memory.ts'
import { configYaml } from '../../../support/push-config.ts'

/** A memory of parsed configs, with the list of texts that it really parsed. */
function watched() {
  const read: string[] = []
  const readConfig = rememberConfigs((text) => {
    read.push(text)
    return parseConfig(text)
  })
  return { read, readConfig }
}

const padded = (mark: string, length: number) => `${configYaml()}# ${mark}`.padEnd(length, '.')

describe('rememberConfigs', () => {
  it('reads the base of many diffs once', () => {
    const { read, readConfig } = watched()
    const base = configYaml(1)
    for (const port of [2, 3, 4])
      runConfigJob(
        { kind: 'diff', input: { baseText: base, targetText: configYaml(port), workload: null, peers: [] } },
        readConfig,
      )
    expect(read).toEqual([base, configYaml(2), configYaml(3), configYaml(4)])
  })

  it('remembers what cannot be read as well', () => {
    const { read, readConfig } = watched()
    expect(readConfig('a: [')).toEqual(parseConfig('a: ['))
    expect(readConfig('a: [').ok).toBe(false)
    expect(read).toHaveLength(1)
  })

  it('forgets the text that was unused for longest when all together are too long', () => {
    const { read, readConfig } = watched()
    const [first, second, third] = ['first', 'second', 'third'].map((mark) => padded(mark, 200_000))
    readConfig(first!)
    readConfig(second!)
    readConfig(first!)
    readConfig(third!)
    expect(read).toEqual([first, second, third])
    readConfig(first!)
    expect(read).toHaveLength(3)
    readConfig(second!)
    expect(read).toHaveLength(4)
  })

  it('does not keep a text that is too long by itself', () => {
    const { read, readConfig } = watched()
    readConfig(configYaml())
    const long = padded('long', 500_000)
    readConfig(long)
    readConfig(long)
    readConfig(configYaml())
    expect(read).toEqual([configYaml(), long, long])
  })

  it('gives every job what it would have read by itself, whatever ran before', () => {
    const { readConfig } = watched()
    const [base, target] = [configYaml(1), configYaml(2).replace('debug:', 'debug: {verbosity: detailed}')]
    const about = { target: null, requestedVersion: '', minimumVersion: '', validatedAt: new Date(0) }
    const settings = {}
    const jobs: ConfigJob[] = [
      { kind: 'diff', input: { baseText: base, targetText: target, workload: null, peers: [] } },
      { kind: 'validate', text: target, about },
      {
        kind: 'policy',
        request: { candidate: target, current: base, isProduction: true, target: {}, settings },
      },
      { kind: 'diff', input: { baseText: target, targetText: base, workload: null, peers: [] } },
    ]
    for (const job of [...jobs, ...jobs.reverse()])
      expect(runConfigJob(job, readConfig)).toEqual(runConfigJob(job))
  })
})

describe('a version that is rendered for many workloads', () => {
  const text = 'a: ${muster:name}\nb: [1, "${muster:name}"]\nc: {d: x}\n'
  const variables = [
    { name: 'name', type: 'string', isRequired: true, pattern: null, fallback: null, description: '' },
  ] as const
  const jobFor = (values: Record<string, string>): ConfigJob => ({
    kind: 'render',
    request: { text, variables, values, withMeaning: true },
  })

  it('is read once, and each result once for its proof and its checks', () => {
    const { read, readConfig } = watched()
    const versions: string[] = []
    const readVersion = rememberTexts((version: string) => {
      versions.push(version)
      return readTemplate(version)
    }, 1_000)
    const about = { target: null, requestedVersion: '', minimumVersion: '', validatedAt: new Date(0) }
    const results = ['one', 'two', 'three'].map((name) => {
      const rendering = runConfigJob(jobFor({ name }), readConfig, readVersion) as { text: string }
      runConfigJob({ kind: 'validate', text: rendering.text, about }, readConfig, readVersion)
      return rendering.text
    })
    expect(versions).toEqual([text])
    expect(read).toEqual(results)
  })

  it('gets for each what it would have got by itself, also after one whose values do not fit', () => {
    const { readConfig } = watched()
    const readVersion = rememberTexts(readTemplate, 1_000)
    for (const values of [{ name: 'one' }, {}, { name: '$x: {y' }, { name: 'one' }] as Record<
      string,
      string
    >[])
      expect(runConfigJob(jobFor(values), readConfig, readVersion)).toEqual(runConfigJob(jobFor(values)))
  })
})
