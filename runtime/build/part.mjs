// How a part of the bundle is loaded: as a script that V8 need not compile where its compiled form lies beside it, made
// by the same Node when the bundle was built (code-cache.mjs). Node 20 can load no ES module in that way.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Script } from 'node:vm'

/** What is put around a part, so that it finds what a CommonJS module finds, and its own URL. */
export const PART_HEAD = '(function (exports, require, module, __filename, __dirname, __url) {'
export const PART_FOOT = '})'

/**
 * Where the compiled form of a part lies. The part's name tells its content, and this one which Node compiled it: V8
 * itself compares no more than its own version, its flags and the length of the source.
 */
export const compiledPath = (path) => `${path}.${process.version}-${process.arch}.cache`

function readCompiled(path) {
  try {
    return readFileSync(compiledPath(path))
  } catch {
    // Another Node made the bundle: this one compiles what it runs.
    return undefined
  }
}

/**
 * A file's name, without its folder. A copy: V8 keeps a part of a string as a reference to the whole, and would write the
 * path into the compiled form, which must not depend on where it is made.
 */
const nameOf = (path) => Buffer.from(basename(path)).toString()

/** The script of a part, whose text is all ASCII. */
export const readPart = (path) =>
  new Script(readFileSync(path, 'latin1'), { filename: nameOf(path), cachedData: readCompiled(path) })

/** Run a part; returns what it exports. */
export function runPart(script, path) {
  const module = { exports: {} }
  const url = pathToFileURL(path).href
  script.runInThisContext()(module.exports, createRequire(path), module, path, dirname(path), url)
  return module.exports
}
