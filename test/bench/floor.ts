import { type ChildProcess, fork } from 'node:child_process'
import { loadUwsLibrary } from '../../runtime/uws-library.ts'

/** The bare server: takes every message and answers the shortest acknowledgement. */
export function serveFloor(): void {
  const uws = loadUwsLibrary()
  const app = uws.App()
  app.ws('/v1/opamp', {
    maxPayloadLength: 1_048_576,
    idleTimeout: 120,
    message(socket, message) {
      const bytes = new Uint8Array(message)
      const answer = Buffer.allocUnsafe(19)
      answer[0] = 0x00
      answer[1] = 0x0a
      answer[2] = 16
      answer.set(bytes.subarray(3, 19), 3)
      socket.send(answer, true, false)
    },
  })
  app.listen('127.0.0.1', 0, (socket) => {
    if (socket) process.send!(uws.us_socket_local_port(socket))
    else process.exit(1)
  })
  process.on('disconnect', () => process.exit(0))
}

/** A running floor. */
export interface Floor {
  pid: number
  port: number
  end(): Promise<void>
}

/** Start the bare server in a process of its own. */
export async function startFloor(): Promise<Floor> {
  const child: ChildProcess = fork(process.argv[1]!, ['--role=floor'], { execArgv: [] })
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()))
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve(message as number))
    void ended.then(() => reject(new Error('the floor did not start')))
  })
  return {
    pid: child.pid!,
    port,
    async end() {
      child.disconnect()
      await ended
    },
  }
}
