import { array, enums, type Infer, literal, optional, string, type } from 'superstruct'
import { GroupScope } from './identity.ts'
import { named, note } from './structs.ts'
import { TOKEN_IDLES, WITHHELD_REASONS } from './values.ts'

export const TokenRightsRecord = named(
  'TokenRights',
  'What a token may do now.',
  type({
    id: string(),
    name: string(),
    expires_at: string(),
    idle: note('Why it does not work now; absent while it does.', optional(enums(TOKEN_IDLES))),
    rights: note('Its own cut with its holder’s, but for what needs a person.', array(string())),
    withheld: note(
      'What it was given and may not do.',
      array(type({ permission: string(), why: enums(WITHHELD_REASONS) })),
    ),
  }),
)

export const RightsRecord = named(
  'Rights',
  'What a person or a service account may do, where, and why.',
  type({
    id: string(),
    name: note('The e-mail of a person, the name of a service account.', string()),
    kind: enums(['person', 'service']),
    groups: array(type({ name: string(), role: string(), scope: optional(GroupScope) })),
    rights: note(
      'Every right that there is.',
      array(
        type({
          permission: string(),
          groups: note('Those that give it; none where it is not held.', array(string())),
          scopes: note('Where it holds, if not everywhere: within any of them.', optional(array(GroupScope))),
          withheld: note(
            'It takes a person who is signed in, so that no program can.',
            optional(literal('needs_person')),
          ),
        }),
      ),
    ),
    tokens: array(TokenRightsRecord),
  }),
)
export type RightsRecord = Infer<typeof RightsRecord>
