const PLACEHOLDER = /(?<!\$)\$\{([A-Z][A-Z0-9_]*)\}/g
const SECRET = /AUTH|PASSWORD|SECRET|TOKEN|_KEY$/
/** What YAML reads as one plain text, and what stands for an environment variable of the collector. */
const PLAIN = /^(?:[A-Za-z0-9./][\w./@-]*(?::[\w./@-]+)*|\$\{env:[A-Za-z_]\w*\})$/

/** The placeholders that a draft still holds, in order, each once; `${env:NAME}` is none. */
export function listPlaceholders(text: string): string[] {
  return [...new Set([...text.matchAll(PLACEHOLDER)].map(([, name]) => name!))]
}

/** What to offer for a placeholder: a secret belongs into the collector's environment and not into a config. */
export const suggestFor = (name: string): string => (SECRET.test(name) ? `\${env:${name}}` : '')

/**
 * A draft with its placeholders filled in; those without a value stay. A placeholder that is a whole YAML value is
 * replaced by quoted text where YAML needs the quotes.
 */
export function fillPlaceholders(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(PLACEHOLDER, (whole, name: string, at: number) => {
    const value = values.get(name)?.trim() ?? ''
    if (value === '') return whole
    const before = text.slice(text.lastIndexOf('\n', at) + 1, at)
    const [after = ''] = text.slice(at + whole.length).split('\n', 1)
    const isAlone = /(?:^|[:-])\s+$/.test(before) && /^\s*(?:#.*)?$/.test(after)
    return isAlone && !PLAIN.test(value) ? JSON.stringify(value) : value
  })
}
