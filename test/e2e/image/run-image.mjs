// Runs an unpacked image with runc: `node run-image.mjs BUNDLE ID [--noexec-tmp] [ARGUMENTS…]`, with this process's
// environment as the container's, as Kubernetes would with a strict security context: no root, no privileges, and nothing
// to write to, or a /tmp from which no program runs.
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [bundle, id, ...given] = process.argv.slice(2)
const hasTmp = given[0] === '--noexec-tmp'
const args = hasTmp ? given.slice(1) : given
const file = join(bundle, 'config.json')
const config = JSON.parse(readFileSync(file, 'utf8'))
const ENTRYPOINT_PARTS = 2
config.process.args = [...config.process.args.slice(0, ENTRYPOINT_PARTS), ...args]
config.process.terminal = false
config.process.noNewPrivileges = true
config.process.capabilities = {}
const image = config.process.env.filter((one) => one.startsWith('PATH='))
const ofTest = Object.entries(process.env).flatMap(([name, value]) =>
  name === 'PATH' ? [] : [`${name}=${value}`],
)
config.process.env = [...image, ...ofTest]
config.root.readonly = true
if (hasTmp)
  config.mounts.push({
    destination: '/tmp',
    type: 'tmpfs',
    source: 'tmpfs',
    options: ['noexec', 'nosuid', 'nodev', 'mode=1777'],
  })
// The container shares the machine's network, because the test's database listens on its loopback address.
config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== 'network')
writeFileSync(file, JSON.stringify(config))

const child = spawn('runc', ['--root', join(bundle, 'state'), 'run', '--bundle', bundle, id], {
  stdio: ['ignore', 'inherit', 'inherit'],
  env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.on('exit', (code) => {
  process.exitCode = code ?? 1
})
