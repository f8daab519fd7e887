// `node --hash-seed=1 --random-seed=1 code-cache.mjs PART...` writes beside each part of a bundle its compiled form, with
// which it starts faster (part.mjs). With these seeds the same part gives the same bytes.
import { writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { compiledPath, readPart, runPart } from './part.mjs'

const parts = process.argv.slice(2).map((path) => ({ path, script: readPart(path) }))
// What its modules run while they load is compiled by then, and goes in as well.
for (const { path, script } of parts) runPart(script, path)
// V8 takes a compiled form only under the flags that it notes in it: those of a Node without any.
for (const flag of ['--hash-seed=0', '--random-seed=0']) setFlagsFromString(flag)
for (const { path, script } of parts) writeFileSync(compiledPath(path), script.createCachedData())
