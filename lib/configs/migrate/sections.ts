/** One `[header]` of a classic config with its settings in the order they were written. */
export interface Section {
  header: string
  /** Keys in lower case; a key that is written twice is here twice. */
  settings: { key: string; value: string }[]
}

/** Read a classic config. Settings before the first header belong to no section and are left out. */
export function readSections(source: string, separator: 'ini' | 'space'): Section[] {
  const sections: Section[] = []
  for (const line of source.split(/\r\n|\r|\n/)) {
    const text = line.trim()
    if (text === '' || text.startsWith('#') || text.startsWith(';')) continue
    const header = /^\[(.*)\]$/.exec(text)
    if (header) {
      sections.push({ header: header[1]!.trim(), settings: [] })
      continue
    }
    const pair = separator === 'ini' ? splitAtEquals(text) : splitAtSpace(text)
    if (pair) sections.at(-1)?.settings.push({ key: pair.key.toLowerCase(), value: pair.value })
  }
  return sections
}

function splitAtEquals(text: string): { key: string; value: string } | null {
  const equals = text.indexOf('=')
  return equals <= 0 ? null : { key: text.slice(0, equals).trim(), value: text.slice(equals + 1).trim() }
}

/** Fluent Bit separates by space; an equals sign between key and value is taken as well. */
function splitAtSpace(text: string): { key: string; value: string } | null {
  const end = text.search(/[\s=]/)
  if (end <= 0) return null
  return { key: text.slice(0, end), value: text.slice(end).trim().replace(/^=/, '').trim() }
}

/** The last value of a key; empty when it is not there. */
export function lastValue(section: Section, key: string): string {
  return section.settings.findLast((setting) => setting.key === key)?.value ?? ''
}

/** A value without the quotes around it. */
export function unquote(value: string): string {
  const isQuoted = value.length >= 2 && /^["']/.test(value) && value.endsWith(value[0]!)
  return isQuoted ? value.slice(1, -1) : value
}
