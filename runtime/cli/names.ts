/** The commands of the client; whatever else is asked for is the service's. */
export const CLIENT_COMMANDS = [
  'login',
  'logout',
  'get',
  'validate',
  'plan',
  'apply',
  'diff',
  'status',
  'rollback',
  'campaign',
  'completion',
] as const

export type ClientCommand = (typeof CLIENT_COMMANDS)[number]

/** Whether the first argument names a command of the client. */
export const isClientCommand = (word: string | undefined): word is ClientCommand =>
  CLIENT_COMMANDS.some((name) => name === word)
