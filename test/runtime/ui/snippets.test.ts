import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { connectText } from '../../../runtime/ui/logic/snippets.ts'
import { readSnippet } from '../../e2e/support/snippets.ts'

const URL = 'wss://muster.example.com/v1/opamp'
const ENV = { url: URL, credential: 'env' } as const

/** The blocks of the README are run with real programs: what the console shows says the same. */
describe('what connects a collector', () => {
  test('under the supervisor is the README’s', () => {
    expect(parse(connectText('supervisor', ENV))).toEqual(parse(readSnippet('supervisor', {})))
  })

  test('on Kubernetes is the README’s, within manifests', () => {
    const documents = parseAllDocuments(connectText('kubernetes', ENV)).map((one) => one.toJS())
    expect(documents.map(({ kind }) => kind)).toEqual(['Secret', 'ConfigMap', 'Deployment'])
    const told = parse(documents[1].data['supervisor.yaml'])
    const wanted = parse(readSnippet('kubernetes', { 'prod-eu': 'my-cluster' }))
    expect(told).toEqual(wanted)
    // Each variable that the file reads is one that the container is given.
    const given = documents[2].spec.template.spec.containers[0].env.map(({ name }: { name: string }) => name)
    const read = [...documents[1].data['supervisor.yaml'].matchAll(/\$\{env:(\w+)\}/g)].map(
      ([, name]) => name,
    )
    expect([...given].sort()).toEqual([...new Set(read)].sort())
  })

  test('on Windows differs from the README’s in its paths only', () => {
    const told = parse(connectText('windows', ENV))
    const wanted = parse(readSnippet('supervisor', {}))
    expect(told).toEqual({
      ...wanted,
      agent: { ...wanted.agent, executable: 'C:\\Program Files\\OpenTelemetry Collector\\otelcol.exe' },
      storage: { directory: 'C:\\ProgramData\\opampsupervisor\\state' },
    })
  })

  test('by the extension is the README’s', () => {
    const { extensions, service } = parse(readSnippet('extension', {}))
    const told = parse(connectText('extension', ENV))
    expect(told.extensions.opamp.server).toEqual(extensions.opamp.server)
    expect(told.service.extensions).toEqual(service.extensions)
  })

  test('carries any credential through the file to the header', () => {
    const secret = 'a "quoted": $ecret\\ #1'
    const header = 'Bearer a "quoted": $$ecret\\ #1'
    const to = { url: URL, credential: secret }
    expect(parse(connectText('supervisor', to)).server.headers.Authorization).toBe(header)
    expect(parse(connectText('windows', to)).server.headers.Authorization).toBe(header)
    expect(parse(connectText('extension', to)).extensions.opamp.server.ws.headers.Authorization).toBe(header)
    const [first] = parseAllDocuments(connectText('kubernetes', to))
    expect(first?.toJS().stringData).toEqual({ OPAMP_SHARED_SECRET: secret })
  })

  test('says nothing of a credential where none is needed, and quotes an address that would break the file', () => {
    for (const way of ['supervisor', 'kubernetes', 'windows', 'extension'] as const)
      expect(connectText(way, { url: URL, credential: null })).not.toMatch(/SECRET|Authorization/)
    const odd = 'wss://host/v1/opamp\ncapabilities: {}'
    expect(parse(connectText('supervisor', { url: odd, credential: null })).server.endpoint).toBe(odd)
  })
})
