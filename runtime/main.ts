import { isClientCommand } from './cli/names.ts'

const io = {
  env: process.env,
  out: (text: string) => void process.stdout.write(text),
  error: (text: string) => void process.stderr.write(text),
  async readInput(): Promise<Buffer> {
    const chunks: Buffer[] = []
    for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array))
    return Buffer.concat(chunks)
  },
}

// One executable is both the service and the command-line client, and loads only the one that is asked for: the client
// must start fast, and needs no sockets.
const args = process.argv.slice(2)
if (isClientCommand(args[0])) {
  const { runClient } = await import('./cli/client.ts')
  // Who reads what is printed may stop reading, as `head` does: then there is nothing left to do.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  process.exitCode = await runClient(args, { ...io, isTerminal: process.stdout.isTTY === true })
} else {
  const { runServiceProcess } = await import('./service-process.ts')
  await runServiceProcess(args, { ...io, readInput: async () => (await io.readInput()).toString('utf8') })
}
