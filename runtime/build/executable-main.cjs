// What the executable runs first: it lays its assets into a private temporary folder, where native code and
// worker threads can be loaded from, and enters the service there. The folder goes when the process ends. The browser
// UI, which is most of the files, stays inside and is read there (runtime/ui-files.ts).
const { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { tmpdir } = require('node:os')
const { dirname, join } = require('node:path')
const { getAsset, getRawAsset } = require('node:sea')

const PREFIX = 'muster-run-'

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code !== 'ESRCH'
  }
}

/** Remove the folders that processes of our own user left behind because they were killed. */
function sweep(parent) {
  for (const name of readdirSync(parent)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]
    if (pid === undefined || isAlive(Number(pid))) continue
    try {
      const folder = join(parent, name)
      if (statSync(folder).uid === process.getuid?.()) rmSync(folder, { recursive: true, force: true })
    } catch {
      // Another start has removed this folder already.
    }
  }
}

function unpack() {
  sweep(tmpdir())
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const name of JSON.parse(getAsset('index.json', 'utf8'))) {
    if (name.startsWith('ui/')) continue
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), new Uint8Array(getRawAsset(name)))
  }
  writeFileSync(join(folder, 'enter.cjs'), "module.exports = () => import('./muster.mjs')\n")
  return folder
}

const folder = unpack()
createRequire(join(folder, 'enter.cjs'))('./enter.cjs')().catch((error) => {
  console.error(error)
  process.exit(1)
})
