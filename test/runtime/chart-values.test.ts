import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

// What the chart takes as values, by its schema alone: Helm asks it before any template.
const CHART = join(import.meta.dirname, '..', '..', 'runtime', 'deploy', 'chart')
const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'))
const usual = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'))
const check = new Ajv({ strict: false }).compile(schema)

/** The values of the chart with one of them replaced; the path is dotted. */
function withValue(path: string, value: unknown): unknown {
  const values = structuredClone(usual)
  const names = path.split('.')
  const last = names.pop()!
  let at = values
  for (const name of names) at = at[name]
  at[last] = value
  return values
}
const takes = (path: string, value: unknown) => check(withValue(path, value))

/** The paths of the schema at which any text is taken. */
function freeTexts(node: Record<string, unknown>, path: string): string[] {
  const { properties = {}, items, additionalProperties: more } = node as Record<string, never>
  const isFree = node['type'] === 'string' && node['pattern'] === undefined
  const inside = Object.entries(properties as Record<string, Record<string, unknown>>).flatMap(
    ([name, one]) => freeTexts(one, `${path}.${name}`),
  )
  const lists = items === undefined ? [] : freeTexts(items, `${path}[]`)
  const others = typeof more === 'object' ? freeTexts(more, `${path}.*`) : []
  return [...(isFree ? [path] : []), ...inside, ...lists, ...others]
}

describe('the values of the chart', () => {
  it('are those of the file that comes with it', () => {
    expect([check(usual), check.errors]).toEqual([true, null])
  })

  it('are any text only where Kubernetes takes any, and the template quotes it', () => {
    expect(freeTexts(schema, '')).toEqual([
      '.settings.*',
      '.api.service.annotations.*',
      '.api.ingress.annotations.*',
      '.opamp.service.annotations.*',
      '.opamp.ingress.annotations.*',
      '.podAnnotations.*',
    ])
  })

  it.each([
    'http://user:secret@proxy.example.com:3128',
    'user:secret@proxy.example.com:3128',
    'http://secret@proxy.example.com',
    'http://us/er:secret@proxy.example.com',
    'http://user%40:secret@proxy.example.com',
  ])('hold no password of a proxy where everybody reads it: %s', (url) => {
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'])
      expect(takes('settings', { [name]: url }), name).toBe(false)
  })

  it('take a proxy without a password as a setting, and one with a password from the Secret', () => {
    expect(takes('settings', { HTTPS_PROXY: 'http://proxy.example.com:3128', NO_PROXY: 'a,b' })).toBe(true)
    for (const key of ['httpProxy', 'httpsProxy']) {
      expect(takes(`secret.keys.${key}`, 'proxy-url')).toBe(true)
      expect(takes(`secret.keys.${key}`, '')).toBe(true)
    }
  })

  it.each([
    ['localhost/muster', true],
    ['images.example.com:5000/team/muster', true],
    ['muster', true],
    ['10.0.0.7:5000/muster', true],
    ['', false],
    ['images.example.com/muster:1.0', false],
    ['images.example.com/muster@sha256:0', false],
    ['images.example.com/Muster', false],
    ['https://images.example.com/muster', false],
    ['user:secret@images.example.com/muster', false],
    ['muster\nhostNetwork: true', false],
    ['muster # comment', false],
    ['"muster', false],
    ['images.example.com//muster', false],
  ])('name the image by what is a name: %j is %s', (repository, isTaken) => {
    expect(takes('image.repository', repository)).toBe(isTaken)
  })

  it.each([
    ['image.pullSecrets', ['images'], ['a\n- name: b']],
    ['image.pullSecrets', ['a.b-c'], ['Images']],
    ['podLabels', { 'example.com/team': 'a_b.C-1' }, { team: 'a b' }],
    ['podLabels', { team: '' }, { 'not a key': 'x' }],
    ['podLabels', { team: 'x' }, { 'app.kubernetes.io/name': 'other' }],
    ['podLabels', { team: 'x' }, { 'helm.sh/chart': 'other' }],
    ['metrics.serviceMonitor.labels', { release: 'prometheus' }, { release: '{{ evil }}' }],
    ['metrics.serviceMonitor.labels', { release: 'x' }, { 'app.kubernetes.io/instance': 'x' }],
    ['nodeSelector', { 'kubernetes.io/arch': 'amd64' }, { 'kubernetes.io/arch': 'amd 64' }],
    ['podAnnotations', { 'example.com/any': 'any: text\n# at all' }, { 'not a key': 'x' }],
    ['api.ingress.annotations', { 'nginx.org/x': 'y' }, { '': 'x' }],
  ])('take at %s what Kubernetes takes, and nothing that would be found out later', (path, good, bad) => {
    expect(takes(path, good), JSON.stringify(good)).toBe(true)
    expect(takes(path, bad), JSON.stringify(bad)).toBe(false)
  })
})
