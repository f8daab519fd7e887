// A stand-in for the collector program, bundled and run by the tests of the trial run. It expands the references of its
// config and prints what they became, as the real collector does of a value that it refuses. It also prints which files
// it sees, and tries to connect to the port that the config names.
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { parse } from 'yaml'
import { expandLikeCollector } from './collector-expansion.ts'

const [command, , file = ''] = process.argv.slice(2)
if (command === '--version') console.log('otelcol version 0.149.0')
else {
  let said: unknown
  const read = (scheme: string, opaque: string) => {
    if (scheme !== 'file') throw new Error(`scheme "${scheme}" is not supported`)
    return readFileSync(opaque, 'utf8')
  }
  try {
    said = expandLikeCollector(parse(readFileSync(file, 'utf8')), read)
  } catch (error) {
    said = String(error)
  }
  console.error('refused:', JSON.stringify(said))
  const list = (folder: string) => {
    try {
      return readdirSync(folder)
    } catch {
      return []
    }
  }
  console.log('sees', JSON.stringify({ home: list('/home'), root: list('/root'), etc: list('/etc') }))
  const port = /port: (\d+)/.exec(readFileSync(file, 'utf8'))?.[1]
  if (port === undefined) process.exit(1)
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('connect', () => console.log('reached the network'))
  socket.on('error', () => process.exit(1))
}
