import { afterAll, expect, test } from 'vitest'
import { changeTexts } from '../../../runtime/ui/i18n/change.ts'
import { language, say } from '../../../runtime/ui/i18n/define.ts'

afterAll(() => {
  language.value = 'en'
})

test('what a change does is French in French, with articles', () => {
  language.value = 'fr'
  const words = say(changeTexts).summary
  expect(words.addsDestination('exporter otlphttp/eu', 'telemetry.example.com')).toBe(
    'ajoute l’exporteur otlphttp/eu, qui envoie à telemetry.example.com',
  )
  expect(words.removesComponent('processor batch')).toBe('retire le processeur batch')
  expect(words.unroutes('traces', 'debug')).toBe('n’envoie plus les traces vers debug')
  expect(words.keeps('metrics')).toBe('ne change rien pour les métriques')
  // What is no kind of component, and a pipeline with a name of its own, stay as they are.
  expect(words.addsComponent('batch → traces')).toBe('ajoute batch → traces')
  expect(words.routes('traces/eu', 'otlp')).toBe('envoie traces/eu vers otlp')
})
