import { pino } from 'pino'
import { parseCommandLine } from './command-line.ts'
import type { CommandParts } from './commands.ts'
import { type Config, readConfig } from './config.ts'
import { locateRuntimeFiles } from './files.ts'
import { OrderlyStop } from './orderly-stop.ts'
import { type RunningService, STOP_BUDGET_MS, startService } from './service.ts'

const log = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime })

/** Say why in one line and end. Bad settings and lost dependencies are told, not thrown. */
function fail(error: unknown): never {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''
  log.fatal(`server: ${error instanceof Error ? error.message : String(error)}${cause}`)
  process.exit(1)
}

/** Serve until a signal, or a fault, ends it. One of several processes needs much that one alone does not load. */
async function serve(config: Config): Promise<void> {
  const starting = new AbortController()
  let service: Pick<RunningService, 'stop'> | null = null
  const end = new OrderlyStop({
    log,
    budgetMs: STOP_BUDGET_MS,
    exit: (code) => process.exit(code),
    stop: async () => {
      starting.abort()
      await service?.stop()
    },
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end.bySignal(signal))
  const onFatal = (reason: string) => end.byFault(reason)
  try {
    const options = { config, files: locateRuntimeFiles(), log, onFatal }
    service =
      config.cluster === null
        ? await startService(options, starting.signal)
        : await (await import('./fronts/member.ts')).startMember(options, config.cluster)
  } catch (error) {
    if (!end.isStopping) fail(error)
  }
}

/** The service, or one of the commands that work on its database: whatever these arguments ask for. */
export async function runServiceProcess(
  args: readonly string[],
  io: Pick<CommandParts, 'env' | 'error' | 'out' | 'readInput'>,
): Promise<void> {
  const command = parseCommandLine(args)
  if (command.kind !== 'serve') {
    const { runCommand } = await import('./commands.ts')
    process.exitCode = await runCommand(command, { ...io, files: locateRuntimeFiles(), log })
    return
  }
  const read = readConfig(io.env, command.edition)
  if (!read.ok) return fail(read.error)
  for (const warning of read.warnings) log.warn(warning)
  await serve(read.config)
}
