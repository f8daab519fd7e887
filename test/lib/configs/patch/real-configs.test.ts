import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CST, Parser } from 'yaml'
import { type ConfigPatch, patchConfig } from '../../../../lib/configs/patch/patch.ts'
import type { Renaming } from '../../../../lib/configs/patch/rename.ts'
import { readFirstDocument } from '../../../../lib/configs/yaml/document.ts'
import { isSameValue } from '../../../../lib/configs/yaml/equal.ts'
import { parseConfig } from '../../../../lib/configs/yaml/parse.ts'
import { type ConfigObject, type ConfigValue, isObject } from '../../../../lib/configs/yaml/value.ts'
import { readJudgedConfigs, sayIfSkipped } from '../../../support/judged-configs.ts'

const others = readJudgedConfigs()
sayIfSkipped(others, 'patches of configs of others')
const own = fileURLToPath(new URL('../../../fixtures/configs', import.meta.url))

const readValid = (from: string, names: readonly string[]) =>
  names
    .filter((name) => name.endsWith('.yaml'))
    .flatMap((name) => {
      const text = readFileSync(join(from, name), 'utf8')
      const [read, parsed] = [readFirstDocument(text), parseConfig(text)]
      return parsed.ok && read.ok && !read.hasMore ? [{ name, text, root: parsed.document.root }] : []
    })
const configs = [...readValid(own, readdirSync(own)), ...readValid(others.folder, others.files)]

/** The comments of a text, in their order. */
function commentsOf(text: string): string[] {
  const comments: string[] = []
  const pending: unknown[] = [...new Parser().parse(text)]
  for (let token = pending.shift(); token !== undefined; token = pending.shift()) {
    if (typeof token !== 'object' || token === null) continue
    if ((token as CST.Token).type === 'comment') comments.push((token as CST.SourceToken).source.trim())
    pending.unshift(...Object.values(token))
  }
  return comments
}

function rootOf(text: string): ConfigObject {
  const read = parseConfig(text)
  if (!read.ok) throw new Error(read.problem.message)
  return read.document.root
}

/** Whether all of `some` is among `all`, in the same order. */
function isSubsequence(some: readonly string[], all: readonly string[]): boolean {
  let at = 0
  for (const one of all) if (at < some.length && one === some[at]) at++
  return at === some.length
}

/** Whether all lines of `before` are in `after`, in the same order; line ends at the end do not count. */
const keepsLines = (before: string, after: string) =>
  isSubsequence(before.replace(/\n+$/, '').split('\n'), after.split('\n'))

function patched(text: string, patch: ConfigPatch): string {
  const outcome = patchConfig(text, patch)
  if (!outcome.ok) throw new Error(`${outcome.problem.code}: ${outcome.problem.message}`)
  return outcome.text
}

/** The lines of `after` that are not at the beginning or at the end of `before`, in the same order. */
function newLines(before: string, after: string): string[] {
  const [old, now] = [before.replace(/\n+$/, '').split('\n'), after.replace(/\n+$/, '').split('\n')]
  const most = Math.min(old.length, now.length)
  let start = 0
  while (start < most && old[start] === now[start]) start++
  let end = 0
  while (end < most - start && old.at(-1 - end) === now.at(-1 - end)) end++
  return now.slice(start, now.length - end)
}

/** All configs, one after the other, take longer on a busy machine than other tests may. */
const ALL_LIMIT_MS = 60_000

const firstKey = (root: ConfigObject, section: string) => {
  const value = root[section]
  return isObject(value) ? Object.keys(value)[0] : undefined
}

describe('configs of ours and of others', () => {
  it.skipIf(others.skipped !== null)(`are there (${others.skipped ?? others.folder})`, () => {
    expect(configs.length).toBeGreaterThan(100)
  })

  it('get a new component, and lose no line', () => {
    const merge = { processors: { 'batch/new': { timeout: '5s', send_batch_size: 10 } } }
    const merged = configs.map((config) => ({ ...config, after: patched(config.text, { merge }) }))
    for (const { name, text, root, after } of merged) {
      expect(isSubsequence(commentsOf(text), commentsOf(after)), name).toBe(true)
      const isInFlow = /^processors:\s*[{&*]/m.test(text) || /^\s*\{/.test(text)
      const isWritten = isObject(root['processors']) || !('processors' in root)
      if (!isInFlow && isWritten) expect(keepsLines(text, after), name).toBe(true)
      const processors = isObject(root['processors']) ? root['processors'] : {}
      const expected = { ...root, processors: { ...processors, ...merge.processors } }
      expect(isSameValue(rootOf(after), expected), name).toBe(true)
      expect(patched(after, { merge }), name).toBe(after)
    }
  })

  it(
    'have it in every pipeline, once however often it is added, and nothing else, and lose no comment',
    () => {
      for (const { name, text, root } of configs) {
        const patch: ConfigPatch = {
          pipeline: [{ pipelines: ['*'], role: 'processors', add: 'batch/new' }],
        }
        const outcome = patchConfig(text, patch)
        if (!outcome.ok) {
          expect(outcome.problem.code, name).toBe('patch_does_not_fit')
          continue
        }
        expect(isSubsequence(commentsOf(text), commentsOf(outcome.text)), name).toBe(true)
        const expected = withPipelines(root, (_, pipeline) => {
          const { processors, ...others } = pipeline as ConfigObject
          return { ...others, processors: [...((processors ?? []) as ConfigValue[]), 'batch/new'] }
        })
        expect(isSameValue(rootOf(outcome.text), expected), name).toBe(true)
        expect(patched(outcome.text, patch), name).toBe(outcome.text)
      }
    },
    ALL_LIMIT_MS,
  )

  it(
    'have one before, after or instead of the first in some role of one pipeline, and nothing else',
    () => {
      let made = 0
      for (const [n, { name, text, root }] of configs.entries()) {
        const role = (['receivers', 'processors', 'exporters'] as const)[n % 3]!
        const place = (['before', 'after', 'instead'] as const)[Math.floor(n / 3) % 3]!
        const [id, list = []] = firstPipeline(root, role)
        const [first, ...rest] = list
        if (id === undefined || typeof first !== 'string') continue
        const edits = {
          before: [{ add: 'new/one', before: first }],
          after: [{ add: 'new/one', after: first }],
          instead: [{ remove: first }, { add: 'new/one' }],
        }[place].map((edit) => ({ pipelines: [id], role, ...edit }))
        const edited = {
          before: ['new/one', ...list],
          after: [first, 'new/one', ...rest],
          instead: [...list.filter((entry) => entry !== first), 'new/one'],
        }[place]
        const expected = withPipelines(root, (one, pipeline) =>
          one === id ? { ...(pipeline as ConfigObject), [role]: edited } : pipeline,
        )
        const after = patched(text, { pipeline: edits })
        expect(isSameValue(rootOf(after), expected), `${name}: ${role} ${place}`).toBe(true)
        if (place !== 'instead')
          expect(isSubsequence(commentsOf(text), commentsOf(after)), `${name}: ${role} ${place}`).toBe(true)
        made++
      }
      expect(made).toBeGreaterThan(0)
    },
    ALL_LIMIT_MS,
  )

  it.each(['receivers', 'processors', 'exporters', 'connectors', 'extensions'] as const)(
    'rename one of their %s line by line, wherever it is meant, and nothing else',
    (category) => {
      for (const { name, text, root } of configs) {
        const from = firstKey(root, category)
        if (from === undefined) continue
        const to = `${from}_renamed`
        const after = patched(text, { rename_component: [{ category, from, to }] })
        expect(isSameValue(rootOf(after), withRenamed(root, { category, from, to })), name).toBe(true)
        if (!/[&*]\w/.test(text)) expect(after.split('\n').length, name).toBe(text.split('\n').length)
        expect(isSubsequence(commentsOf(text), commentsOf(after)), name).toBe(true)
      }
    },
    ALL_LIMIT_MS,
  )

  it('lose a component, and nothing that is written elsewhere', () => {
    for (const { name, text, root } of configs) {
      const from = firstKey(root, 'exporters')
      if (from === undefined) continue
      const after = patched(text, { remove: [['exporters', from]] })
      const { [from]: gone, ...others } = root['exporters'] as ConfigObject
      expect(gone === undefined || isSameValue(rootOf(after), { ...root, exporters: others }), name).toBe(
        true,
      )
      if (!/[&*]\w/.test(text))
        expect(keepsLines(after.replace(/^exporters: \{\}.*\n/m, ''), text) || /\{/.test(text), name).toBe(
          true,
        )
    }
  })

  // One test for each config: all of them together take longer than a test may on a busy machine.
  it.each(configs)(
    'set a single value of $name here and there, one after the other, in its line, and keep all else and all comments',
    ({ text, root }) => {
      const paths = scalarPaths(root)
      for (const path of paths.filter((_, at) => at % Math.ceil(paths.length / 4) === 0)) {
        const merge = path.reduceRight<ConfigValue>((inner, key) => ({ [key]: inner }), 'a: new # value')
        const after = patched(text, { merge: merge as ConfigObject })
        expect(isSubsequence(commentsOf(text), commentsOf(after)), path.join('::')).toBe(true)
        expect(isSameValue(rootOf(after), withValue(root, path, 'a: new # value')), path.join('::')).toBe(
          true,
        )
        if (!/[&*]\w/.test(text)) expect(newLines(text, after), path.join('::')).toHaveLength(1)
        expect(patched(after, { merge: merge as ConfigObject }), path.join('::')).toBe(after)
      }
    },
  )
})

const mapValues = (
  object: ConfigObject,
  map: (key: string, value: ConfigValue) => ConfigValue,
): ConfigObject => Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(key, value)]))

/** A copy in which each pipeline is what `edit` makes of it. */
function withPipelines(
  root: ConfigObject,
  edit: (id: string, pipeline: ConfigValue) => ConfigValue,
): ConfigObject {
  const service = root['service'] as ConfigObject
  return {
    ...root,
    service: { ...service, pipelines: mapValues(service['pipelines'] as ConfigObject, edit) },
  }
}

/** The first pipeline that names something in a role, and all that it names there. */
function firstPipeline(
  { service }: ConfigObject,
  role: string,
): [id?: string, list?: readonly ConfigValue[]] {
  const pipelines = isObject(service) && isObject(service['pipelines']) ? service['pipelines'] : {}
  for (const [id, pipeline] of Object.entries(pipelines)) {
    const list = isObject(pipeline) ? pipeline[role] : undefined
    if (Array.isArray(list) && list.length > 0) return [id, list]
  }
  return []
}

/** A copy in which a component has another id where it is defined, in pipelines, and where an extension is referred to. */
function withRenamed(root: ConfigObject, { category, from, to }: Renaming): ConfigObject {
  const swap = (value: ConfigValue): ConfigValue => (value === from ? to : value)
  const swapAll = (value: ConfigValue): ConfigValue => (Array.isArray(value) ? value.map(swap) : value)
  const settings = (key: string, value: ConfigValue): ConfigValue => {
    if (Array.isArray(value)) return value.map((one) => settings('', one))
    if (isObject(value)) return mapValues(value, settings)
    return category === 'extensions' && ['authenticator', 'storage', 'storage_id'].includes(key)
      ? swap(value)
      : value
  }
  const ends = category === 'connectors' ? ['receivers', 'exporters'] : [category]
  const service = (key: string, value: ConfigValue): ConfigValue => {
    if (key === 'extensions') return category === 'extensions' ? swapAll(value) : value
    if (key !== 'pipelines' || !isObject(value)) return settings(key, value)
    return mapValues(value, (_, pipeline) =>
      isObject(pipeline)
        ? mapValues(pipeline, (role, list) => (ends.includes(role) ? swapAll(list) : list))
        : pipeline,
    )
  }
  return mapValues(root, (section, value) => {
    if (!isObject(value)) return value
    if (section === 'service') return mapValues(value, service)
    const within = mapValues(value, settings)
    if (section !== category) return within
    return Object.fromEntries(Object.entries(within).map(([key, one]) => [key === from ? to : key, one]))
  })
}

function scalarPaths(value: ConfigValue, path: readonly string[] = []): string[][] {
  if (!isObject(value)) return Array.isArray(value) ? [] : [[...path]]
  return Object.entries(value).flatMap(([key, entry]) => scalarPaths(entry, [...path, key]))
}

/** A copy in which the key at a path holds another value, and everything else is as it was. */
function withValue(
  root: ConfigObject,
  [key = '', ...inner]: readonly string[],
  value: ConfigValue,
): ConfigObject {
  const within = root[key]
  return { ...root, [key]: inner.length > 0 && isObject(within) ? withValue(within, inner, value) : value }
}

/**
 * Generated YAML as people write it: mappings with anchors, aliases, merge keys, comments, and flow and block style.
 */
const texts = fc
  .array(
    fc.record({
      kind: fc.constantFrom('map', 'alias', 'merge', 'merges', 'flow', 'list', 'scalar', 'nested'),
      of: fc.nat(5),
      hasAnchor: fc.boolean(),
      comment: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((entries) => {
    const anchors: number[] = []
    return entries
      .map(({ kind, of, hasAnchor, comment }, index) => {
        const said = comment ? ` # c${index}` : ''
        const anchor = hasAnchor ? ` &m${index}` : ''
        const known = anchors[of % Math.max(1, anchors.length)]
        const text = ((): string => {
          if (kind === 'alias' && known !== undefined) return `k${index}: *m${known}${said}`
          if (kind === 'merge' && known !== undefined)
            return `k${index}:${said}\n  <<: *m${known}\n  own: ${index}${said}`
          if (kind === 'merges' && known !== undefined)
            return `k${index}:\n  a: over${said}\n  <<: [*m${known}, *m${anchors[0]}]`
          if (kind === 'list') return `k${index}:${said}\n  - a${said}\n  - {b: 1}`
          if (kind === 'scalar') return `k${index}: "v ${index}"${said}`
          if (hasAnchor) anchors.push(index)
          if (kind === 'flow') return `k${index}:${anchor} {a: ${index}, n: {x: 1}}${said}`
          if (kind === 'nested') return `k${index}:${anchor}${said}\n  n:\n    x: 1${said}\n    y: 2\n  a: z`
          return `k${index}:${anchor}${said}\n  # above\n  a: ${index}${said}\n  b: |\n    text\n    more`
        })()
        return text
      })
      .join('\n')
  })

/** The text without what is at a path, and without the comment right above it. */
function without(text: string, [key, inner]: readonly string[]): string {
  const keep = (entry: string): string => {
    if (!entry.startsWith(`${key}:`)) return entry
    if (inner === undefined) return ''
    const lines = entry.split(/(?<!# above)\n(?= {2}\S)/)
    return lines.filter((line) => !line.replace('  # above\n', '').startsWith(`  ${inner}:`)).join('\n')
  }
  return text
    .split(/\n(?=k)/)
    .map(keep)
    .join('\n')
}

/** 1,500 texts take seven seconds on a quiet machine. */
const GENERATED_LIMIT_MS = 120_000

it(
  'whatever anchors and merge keys are in the way, a change is only what it says',
  () => {
    let made = 0
    fc.assert(
      fc.property(texts, fc.nat(5), fc.nat(3), fc.boolean(), (text, which, what, isRemoval) => {
        const root = rootOf(text)
        const keys = Object.keys(root)
        const key = keys[which % keys.length]!
        const inner = isObject(root[key]) ? Object.keys(root[key] as ConfigObject) : []
        const path = inner.length > 0 && what > 0 ? [key, inner[what % inner.length]!] : [key]
        if (isRemoval && path.length === 1 && keys.length === 1) return
        const merge = path.reduceRight<ConfigValue>((value, name) => ({ [name]: value }), {
          a: 'new',
          n: { x: [1] },
        })
        const outcome = patchConfig(text, isRemoval ? { remove: [path] } : { merge: merge as ConfigObject })
        expect(outcome, text).toMatchObject({ ok: true })
        if (!outcome.ok) return
        made++
        const expected = structuredClone(JSON.parse(JSON.stringify(root))) as ConfigObject
        const parent = (path.length === 1 ? expected : expected[key]) as ConfigObject
        const name = path.at(-1)!
        if (isRemoval) delete parent[name]
        else {
          const before = isObject(parent[name]) ? (parent[name] as ConfigObject) : {}
          const n = isObject(before['n']) ? (before['n'] as ConfigObject) : {}
          parent[name] = { ...before, a: 'new', n: { ...n, x: [1] } }
        }
        expect(isSameValue(rootOf(outcome.text), expected), outcome.text).toBe(true)
        if (isRemoval || isObject(root[key])) {
          const kept = commentsOf(isRemoval ? without(text, path) : text)
          expect(isSubsequence(kept, commentsOf(outcome.text)), `${text}\n=>\n${outcome.text}`).toBe(true)
        }
        const others = text
          .split(/\n(?=k)/)
          .filter((entry) => !entry.startsWith(`${key}:`) && !/\*m/.test(entry))
        expect(isSubsequence(others, outcome.text.trimEnd().split(/\n(?=k)/)), outcome.text).toBe(true)
        // A removal fits no second time.
        if (!isRemoval) expect(patched(outcome.text, { merge: merge as ConfigObject })).toBe(outcome.text)
        else expect(patchConfig(outcome.text, { remove: [path] })).toMatchObject({ ok: false })
      }),
      { numRuns: 1_500 },
    )
    expect(made).toBeGreaterThan(1_000)
  },
  GENERATED_LIMIT_MS,
)
