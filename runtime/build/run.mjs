// Runs one TypeScript file: `node runtime/build/run.mjs <entry.ts> [arguments]`. Node 20 cannot run
// TypeScript itself, so the file is bundled into `.cache/run` first; packages come from node_modules.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { bundleForCheckout, bundleWorkersForCheckout, ROOT } from './bundle.mjs'

const [entry, ...rest] = process.argv.slice(2)
if (!entry) {
  console.error('usage: node runtime/build/run.mjs <entry.ts> [arguments]')
  process.exit(2)
}

const folder = join(ROOT, '.cache', 'run')
const name = relative(ROOT, resolve(entry)).replace(/\.ts$/, '').replaceAll(/[\\/]/g, '-')
// The process id is in the name, so that two runs at once never read each other's half-written bundle.
const outfile = join(folder, `${name}.${process.pid}.mjs`)
await bundleForCheckout(resolve(entry), outfile)
await bundleWorkersForCheckout(folder)

const child = spawn(process.execPath, ['--enable-source-maps', outfile, ...rest], { stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('exit', async (code, signal) => {
  const { rm } = await import('node:fs/promises')
  await rm(outfile, { force: true })
  process.exitCode = signal ? 128 + (constants.signals[signal] ?? 0) : code
})
