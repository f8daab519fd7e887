// Runs the tests: `node runtime/build/test.mjs [vitest arguments]`. All set-up is the tests' own.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { bundleWorkersForCheckout, endBundler, ROOT } from './bundle.mjs'

await bundleWorkersForCheckout(join(ROOT, '.cache', 'run'))
await endBundler()
const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
const config = join(ROOT, 'test', 'vitest.config.ts')
const child = spawn(process.execPath, [vitest, 'run', '--config', config, ...process.argv.slice(2)], {
  cwd: ROOT,
  stdio: 'inherit',
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('exit', (code) => {
  process.exitCode = code ?? 1
})
