// `npm start`: builds the service, then runs it with a database and a demo fleet; see runtime/quickstart/.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

// Read before the build, which takes seconds: the process that started this one may be gone by its end.
const parent = process.ppid
const root = fileURLToPath(new URL('../..', import.meta.url))
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 11)) {
  console.error(`muster needs Node 20.11 or newer; this is ${process.versions.node}`)
  process.exit(1)
}
if (!existsSync(join(root, 'node_modules', 'esbuild'))) {
  console.error('Run `npm install` first.')
  process.exit(1)
}

const args = process.argv.slice(2)
// Not in dist/, which `npm run build` empties under a service that runs.
const service = join(root, '.cache', 'service')
if (!args.includes('--help')) {
  const script = join(root, 'runtime', 'build', 'build.mjs')
  const { status } = spawnSync(process.execPath, [script, '--no-executable', `--out=${service}`], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}

const { bundleForCheckout, endBundler } = await import('./bundle.mjs')
const folder = join(root, '.cache', 'quickstart')
const fleet = join(folder, 'demo-fleet.mjs')
await bundleForCheckout(join(root, 'runtime', 'quickstart', 'main.ts'), join(folder, 'main.mjs'))
await bundleForCheckout(join(root, 'runtime', 'quickstart', 'demo-fleet.ts'), fleet)
await endBundler()
const { quickStart } = await import(pathToFileURL(join(folder, 'main.mjs')).href)
process.exit(await quickStart(args, { service: join(service, 'muster.mjs'), fleet, parent }))
