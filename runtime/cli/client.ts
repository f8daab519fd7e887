import { readArguments } from './arguments.ts'
import type { ClientCommandSpec, ClientIo } from './command.ts'
import { apply } from './commands/apply.ts'
import { campaign } from './commands/campaign.ts'
import { completion } from './commands/completion.ts'
import { diff } from './commands/diff.ts'
import { get } from './commands/get.ts'
import { login } from './commands/login.ts'
import { logout } from './commands/logout.ts'
import { plan } from './commands/plan.ts'
import { rollback } from './commands/rollback.ts'
import { status } from './commands/status.ts'
import { validate } from './commands/validate.ts'
import { CommandFailure, EXIT, WrongArguments } from './exit-codes.ts'
import { CLIENT_COMMANDS, type ClientCommand, isClientCommand } from './names.ts'
import { toLines } from './output.ts'

/** Every command of the client by its name. */
export const COMMANDS: Readonly<Record<ClientCommand, ClientCommandSpec>> = {
  login,
  logout,
  get,
  validate,
  plan,
  apply,
  diff,
  status,
  rollback,
  campaign,
  completion: completion(() => CLIENT_COMMANDS.map((name) => [name, COMMANDS[name]] as const)),
}

/** Run the command that the first argument names; resolves with the exit code. */
export async function runClient(args: readonly string[], io: ClientIo): Promise<number> {
  const [name, ...rest] = args
  if (!isClientCommand(name)) throw new Error(`"${name}" is no command of the client`)
  const spec = COMMANDS[name]
  if (rest.some((arg) => arg === '--help' || arg === '-h')) {
    io.out(usageOf(name, spec))
    return EXIT.done
  }
  try {
    return await spec.run(readArguments(rest, spec), io)
  } catch (error) {
    if (!(error instanceof CommandFailure)) {
      if (io.env['MUSTER_DEBUG']) throw error
      const said = error instanceof Error ? error.message : String(error)
      io.error(
        `${toLines(`muster ${name}: the service does not answer as muster does, or this command fails by itself: ${said}`)}\n` +
          'With MUSTER_DEBUG=1 it says where.\n',
      )
      return EXIT.error
    }
    io.error(`${toLines(`muster ${name}: ${error.message}`)}\n`)
    if (error instanceof WrongArguments) io.error(`See muster ${name} --help.\n`)
    return error.exitCode
  }
}

function usageOf(name: string, { usage, summary, details, options }: ClientCommandSpec): string {
  const written = options.map(({ name: long, short, value }) => {
    const both = short === undefined ? long : `${short}, ${long}`
    return value === undefined ? both : `${both} ${value}`
  })
  const width = Math.max(0, ...written.map((one) => one.length)) + 2
  const lines = options.map(({ says, choices }, index) => {
    const among = choices === undefined ? '' : ` (${choices.join(', ')})`
    return `  ${written[index]!.padEnd(width)}${says}${among}\n`
  })
  const more = details === undefined ? '' : `\n${details.trim()}\n`
  const listed = lines.length === 0 ? '' : `\n${lines.join('')}`
  return `${summary}\n\nUsage: muster ${name} ${usage}\n${more}${listed}`
}
