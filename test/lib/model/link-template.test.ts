import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fillLinkTemplate, type LinkFacts, readLinkTemplate } from '../../../lib/model/link-template.ts'

const FACTS: LinkFacts = {
  id: '0f0e',
  name: 'otel gateway',
  cluster: 'prod-eu',
  environment: 'production',
  labels: { 'host.name': 'a/b?c#d', empty: '', dots: '..' },
}

function fill(text: string, facts = FACTS) {
  const read = readLinkTemplate(text)
  return read.ok ? fillLinkTemplate(read.template, facts) : read.fault
}

describe('the pattern of a link', () => {
  it('is filled in with encoded facts behind its host', () => {
    expect(fill('https://g.example.com/d/{id}?n={name}&c={cluster}#{label:host.name}')).toEqual({
      ok: true,
      url: 'https://g.example.com/d/0f0e?n=otel%20gateway&c=prod-eu#a%2Fb%3Fc%23d',
    })
    expect(fill('https://g.example.com')).toEqual({ ok: true, url: 'https://g.example.com' })
  })

  it('is not filled in where a fact is missing, inherited or would climb in the path', () => {
    for (const key of ['label:empty', 'label:none', 'label:dots', 'label:constructor', 'label:__proto__'])
      expect(fill(`https://g.example.com/{${key}}`)).toEqual({ ok: false, missing: key })
    expect(fill('https://g.example.com/{environment}', { ...FACTS, environment: '' })).toEqual({
      ok: false,
      missing: 'environment',
    })
  })

  it.each([
    ['http://g.example.com/', 'not_https'],
    ['javascript:alert(1)//https://', 'not_https'],
    ['//g.example.com/', 'not_https'],
    ['https://', 'not_https'],
    ['https:///{label:host.name}', 'not_https'],
    ['https:////{name}/x', 'not_https'],
    ['https://user:secret@g.example.com/{id}', 'not_https'],
    ['https://user@g.example.com/', 'not_https'],
    ['https://g.example.com/ {id}', 'not_https'],
    ['https://g.example.com\\{id}', 'not_https'],
    ['https://{name}.example.com/', 'in_host'],
    ['https://g.example.com:{id}/', 'in_host'],
    ['https://g.example.com{id}', 'in_host'],
    ['{id}https://g.example.com/', 'not_https'],
    ['https://g.example.com/{id', 'open_brace'],
    ['https://g.example.com/id}', 'open_brace'],
    ['https://g.example.com/{host}', 'placeholder_unknown'],
    ['https://g.example.com/{}', 'placeholder_unknown'],
    ['https://g.example.com/{label:}', 'placeholder_unknown'],
    ['https://g.example.com/{constructor}', 'placeholder_unknown'],
  ])('refuses %s', (text, code) => {
    expect(fill(text)).toMatchObject({ code })
  })

  it('leads to its own host and path, whatever agents report', () => {
    const read = readLinkTemplate('https://g.example.com/d/{label:a}/{name}?x={label:a}')
    if (!read.ok) throw new Error(read.fault.code)
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, name) => {
        const filled = fillLinkTemplate(read.template, { ...FACTS, name, labels: { a } })
        if (!filled.ok) return
        const { origin, pathname } = new URL(filled.url)
        expect(origin).toBe('https://g.example.com')
        expect(pathname.split('/').slice(0, 2)).toEqual(['', 'd'])
        expect(pathname.split('/')).toHaveLength(4)
      }),
    )
  })
})
