import { createRequire, isBuiltin } from 'node:module'

/** The files inside the executable that this process runs. */
export interface ExecutableAssets {
  /** Their paths below `dist/`, with `/` between. */
  names: readonly string[]
  /** The bytes of one of them, where they lie in memory: not to be written to. */
  read(name: string): Uint8Array
}

/** What `runtime/build/executable.mjs` put into the executable; null where this process is Node itself. */
export function openExecutableAssets(): ExecutableAssets | null {
  if (!isBuiltin('node:sea')) return null
  const { getAsset, getRawAsset, isSea } = createRequire(import.meta.url)(
    'node:sea',
  ) as typeof import('node:sea')
  if (!isSea()) return null
  return {
    names: JSON.parse(getAsset('index.json', 'utf8')) as string[],
    read: (name) => new Uint8Array(getRawAsset(name) as ArrayBuffer),
  }
}
