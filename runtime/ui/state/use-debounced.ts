import { useEffect, useState } from 'preact/hooks'

/** The value once it has rested for `delayMs`; the first one at once. */
export function useDebounced<T>(value: T, delayMs: number): T {
  const [rested, setRested] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), delayMs)
    return () => clearTimeout(timer)
  }, [value, delayMs])
  return rested
}

/** A short key for a long text, to fetch again only when it differs. */
export function textKey(text: string): string {
  let hash = 5381
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 33) ^ text.charCodeAt(at)) >>> 0
  return `${text.length}:${hash}`
}
