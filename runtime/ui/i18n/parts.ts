import { defineTexts, say } from './define.ts'

/** The kinds of a collector's parts; the English words are the protocol's own. */
const kindTexts = defineTexts({
  en: {} as Record<string, string>,
  fr: {
    receiver: 'récepteur',
    processor: 'processeur',
    exporter: 'exporteur',
    connector: 'connecteur',
  } as Record<string, string>,
})

/** A part with its kind in the reader's language: `exporter otlp/eu` is `exporteur otlp/eu` in French. */
export function sayPart(name: string): string {
  const [kind = '', ...id] = name.split(' ')
  return [say(kindTexts)[kind] ?? kind, ...id].join(' ')
}
