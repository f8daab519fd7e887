import { inflateSync } from 'node:zlib'

/**
 * The objects of a PDF by number, as its writer made them: dictionary text, and the stream's bytes where there is one.
 */
function readObjects(pdf: Uint8Array): Map<number, { text: string; stream: string }> {
  const raw = Buffer.from(pdf).toString('latin1')
  const objects = new Map<number, { text: string; stream: string }>()
  for (const match of raw.matchAll(/^(\d+) 0 obj\n([\s\S]*?)\nendobj$/gm)) {
    const body = match[2]!
    const at = body.indexOf('stream\n')
    const length = Number(/\/Length (\d+)/.exec(body)?.[1] ?? 0)
    const bytes = Buffer.from(body.slice(at + 7, at + 7 + length), 'latin1')
    const isDeflated = body.slice(0, at).includes('FlateDecode')
    const stream = at === -1 ? '' : (isDeflated ? inflateSync(bytes) : bytes).toString('latin1')
    objects.set(Number(match[1]), { text: at === -1 ? body : body.slice(0, at), stream })
  }
  return objects
}

/**
 * The texts of a PDF in the order in which they are drawn, decoded by the fonts' own tables, as a viewer's search sees
 * them.
 */
export function readPdfText(pdf: Uint8Array): string[] {
  const objects = readObjects(pdf)
  const fonts = new Map<string, Map<number, string>>()
  for (const { text } of objects.values()) {
    for (const [, name, id] of text.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      const table = /\/ToUnicode (\d+) 0 R/.exec(objects.get(Number(id))?.text ?? '')?.[1]
      const cmap = objects.get(Number(table))?.stream ?? ''
      const pairs = [...cmap.matchAll(/<([0-9a-f]{4})><([0-9a-f]{4})>/g)]
      fonts.set(
        name!,
        new Map(
          pairs.map(([, glyph, code]) => [
            Number.parseInt(glyph!, 16),
            String.fromCharCode(Number.parseInt(code!, 16)),
          ]),
        ),
      )
    }
  }
  const texts: string[] = []
  for (const { stream } of objects.values()) {
    let font: Map<number, string> | undefined
    for (const [, name, string] of stream.matchAll(/\/(F\d+) [\d.]+ Tf|\(((?:[^\\()]|\\[\s\S])*)\) Tj/g)) {
      if (name !== undefined) font = fonts.get(name)
      else texts.push(decode(string!, font))
    }
  }
  return texts
}

function decode(string: string, font: Map<number, string> | undefined): string {
  const bytes = string.replace(/\\([\s\S])/g, (_, escaped: string) => (escaped === 'r' ? '\r' : escaped))
  let text = ''
  for (let i = 0; i + 1 < bytes.length; i += 2)
    text += font?.get(bytes.charCodeAt(i) * 256 + bytes.charCodeAt(i + 1)) ?? '?'
  return text
}
