export type Encoding = 'br' | 'gzip' | 'identity'

/** The best encoding that we have and the client takes, by its own preference and then by size (RFC 9110, 12.5.3). */
export function chooseEncoding(acceptEncoding: string, available: readonly Encoding[]): Encoding {
  const weights = new Map<string, number>()
  for (const part of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim())
    const q = parameters.find((piece) => piece.startsWith('q='))
    const weight = q === undefined ? 1 : Number(q.slice(2))
    if (name !== '') weights.set(name, Number.isFinite(weight) ? weight : 0)
  }
  const weightOf = (encoding: Encoding) =>
    weights.get(encoding) ?? (encoding === 'identity' ? 0.001 : (weights.get('*') ?? 0))
  const order: readonly Encoding[] = ['br', 'gzip', 'identity']
  let best: Encoding = 'identity'
  for (const encoding of order) {
    if (available.includes(encoding) && weightOf(encoding) > 0) {
      if (best === 'identity' || weightOf(encoding) > weightOf(best)) best = encoding
    }
  }
  return best
}
