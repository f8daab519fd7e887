import { expect, test } from 'vitest'
import { listDiffWords } from '../../../../lib/configs/diff/words.ts'
import type { ConfigDiff } from '../../../../lib/wire/diff.ts'

const component = (category: string, id: string, more: object) => ({
  kind: 'modified',
  component: { category, id, type: id, path: `${category}.${id}` },
  changed_fields: [],
  impacted_pipelines: [],
  ...more,
})

const diff = {
  components: [
    component('processors', 'batch', { kind: 'removed' }),
    component('receivers', 'otlp', {
      changed_fields: [
        {
          path: 'receivers.otlp.protocols.http',
          after: { endpoint: '0.0.0.0:4318', cors: { origins: ['a', 'b'] } },
        },
        { path: 'receivers.otlp.protocols.grpc', after: {} },
      ],
    }),
    component('exporters', 'otlphttp/us', { kind: 'added', addresses: ['https://us.example.com'] }),
  ],
  pipelines: [
    {
      kind: 'modified',
      pipeline_key: 'traces',
      component_ref_changes: [{ section: 'exporters', kind: 'added', component_id: 'otlphttp/us' }],
    },
  ],
  human_summary: [{ category: 'unchanged', signal: 'logs', text: 'Keeps logs unchanged' }],
} as unknown as ConfigDiff

test('what a change does begins with where data goes, then what is lost, and ends with what stays', () => {
  expect(listDiffWords(diff).map(({ kind }) => kind)).toEqual([
    'addsDestination',
    'routes',
    'removesComponent',
    'changesField',
    'changesField',
    'keeps',
  ])
})

test('a new sampler says which share of which signals it keeps', () => {
  const sampler = {
    kind: 'added',
    after: { sampling_percentage: 25 },
    impacted_pipelines: ['traces', 'traces/b'],
  }
  const components = [component('processors', 'probabilistic_sampler', sampler)]
  expect(listDiffWords({ ...diff, components } as unknown as ConfigDiff)[0]).toEqual({
    kind: 'addsSampler',
    name: 'processor probabilistic_sampler',
    percent: 25,
    signals: ['traces'],
  })
})

test('a value is written as people say it, without the signs of JSON', () => {
  const fields = listDiffWords(diff).flatMap((word) => (word.kind === 'changesField' ? [word] : []))
  expect(fields.map(({ before, after }) => [before, after])).toEqual([
    [null, 'endpoint: 0.0.0.0:4318, cors (origins (a, b))'],
    [null, ''],
  ])
})

test('that a signal is sent nowhere any more stands before all else', () => {
  const lost = { category: 'signal', signal: 'traces', text: 'No pipeline sends traces any more' }
  const human_summary = [lost, ...diff.human_summary] as ConfigDiff['human_summary']
  expect(listDiffWords({ ...diff, human_summary })[0]).toEqual({ kind: 'losesSignal', signal: 'traces' })
})

test('names, paths and addresses are cut where they are long, and no more of a large value is walked than is said', () => {
  const long = 'x'.repeat(900_000)
  let read = 0
  const after = Array.from({ length: 10_000 }, () => ({
    get a() {
      return ++read
    },
  }))
  const changed_fields = Array.from({ length: 100 }, () => ({ path: long, before: long, after }))
  const components = [
    component('exporters', long, { kind: 'added', addresses: [long] }),
    component('exporters', long, { kind: 'removed', renamed_to: long }),
    component('receivers', 'otlp', { changed_fields }),
    component('receivers', 'later', { changed_fields }),
  ]
  const added = [{ section: 'exporters', kind: 'added', component_id: long }]
  const pipelines = [{ kind: 'modified', pipeline_key: long, component_ref_changes: added }]
  const words = listDiffWords({ ...diff, components, pipelines } as unknown as ConfigDiff)
  expect(words.filter(({ kind }) => kind === 'changesField')).toHaveLength(38)
  expect(JSON.stringify(words).length).toBeLessThan(20_000)
  expect(read).toBeLessThan(20_000)
})
