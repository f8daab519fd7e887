import {
  array,
  boolean,
  defaulted,
  enums,
  type Infer,
  literal,
  nullable,
  number,
  object,
  optional,
  string,
  type,
} from 'superstruct'
import { named, note, type Sent, texts } from './structs.ts'
import { LANGUAGES, SIGN_IN_REFUSALS, THEMES } from './values.ts'

export const LoginRequest = named(
  'LoginRequest',
  'Body of `POST /api/auth/login`.',
  type({ email: defaulted(string(), ''), password: defaulted(string(), '') }),
)
export type LoginRequest = Sent<typeof LoginRequest>

export const LoginResponse = named(
  'LoginResponse',
  'Answer of `POST /api/auth/login`; the cookie `om_session` holds the same token.',
  type({
    token: string(),
  }),
)
export type LoginResponse = Infer<typeof LoginResponse>

export const AuthMethod = named(
  'AuthMethod',
  'One way to sign in.',
  type({
    id: string(),
    type: enums(['password', 'sso']),
    display_name: string(),
    login_url: string(),
  }),
)
export type AuthMethod = Infer<typeof AuthMethod>

export const AuthMethods = named(
  'AuthMethods',
  '`GET /api/auth/methods`.',
  type({
    methods: array(AuthMethod),
  }),
)
export type AuthMethods = Infer<typeof AuthMethods>

export const GroupScope = named(
  'GroupScope',
  'The workloads whose trusted label has one of the values; one without the label is outside.',
  type({ key: note('A trusted label, such as `muster/env`.', string()), values: texts(1_000) }),
)
export type GroupScope = Infer<typeof GroupScope>

const groupFields = {
  id: string(),
  name: string(),
  role: string(),
  scope: note('Where the role holds; absent for everywhere.', optional(GroupScope)),
  is_system: boolean(),
  created_at: string(),
}

export const GroupRecord = named('GroupRecord', '', type(groupFields))
export type GroupRecord = Infer<typeof GroupRecord>

export const ManagedGroupRecord = named(
  'ManagedGroupRecord',
  'A group as an administrator sees it.',
  type({ ...groupFields, member_count: note('Users and service accounts.', number()) }),
)
export type ManagedGroupRecord = Infer<typeof ManagedGroupRecord>

export const GroupUpdateRequest = named(
  'GroupUpdateRequest',
  'Body of `PUT /api/groups/{id}`.',
  object({
    role: defaulted(string(), ''),
    scope: note('Null says that the role holds everywhere.', nullable(GroupScope)),
  }),
)
export type GroupUpdateRequest = Sent<typeof GroupUpdateRequest>

export const GroupCreateRequest = named(
  'GroupCreateRequest',
  'Body of `POST /api/groups`. Without a scope, or with null, the role holds everywhere.',
  object({
    name: defaulted(string(), ''),
    role: defaulted(string(), ''),
    scope: optional(nullable(GroupScope)),
  }),
)
export type GroupCreateRequest = Sent<typeof GroupCreateRequest>

export const Theme = named('Theme', '', enums(THEMES))
export type Theme = Infer<typeof Theme>

export const Language = named('Language', '', enums(LANGUAGES))
export type Language = Infer<typeof Language>

export const PreferencesRequest = named(
  'PreferencesRequest',
  'Body of `PUT /api/me/preferences`; both are required.',
  type({ theme: defaulted(string(), ''), language: defaulted(string(), '') }),
)
export type PreferencesRequest = Sent<typeof PreferencesRequest>

export const Preferences = named(
  'Preferences',
  '`updated_at` is absent until the preferences were stored once.',
  type({
    theme: Theme,
    language: Language,
    user_id: string(),
    updated_at: optional(string()),
  }),
)
export type Preferences = Infer<typeof Preferences>

export const Me = named(
  'Me',
  '`GET /api/me`.',
  type({
    id: string(),
    email: string(),
    groups: array(GroupRecord),
    permissions: note('What is allowed everywhere: sorted permission strings.', array(string())),
    scoped: note(
      'What is allowed within scopes only; absent where nothing is.',
      optional(array(type({ scope: GroupScope, permissions: array(string()) }))),
    ),
    has_password: note('False for whoever signs in elsewhere; absent otherwise.', optional(literal(false))),
    preferences: Preferences,
  }),
)
export type Me = Infer<typeof Me>

export const PasswordRequest = named(
  'PasswordRequest',
  'Body of `PUT /api/me/password`.',
  type({
    current_password: defaulted(string(), ''),
    new_password: defaulted(string(), ''),
    keep_tokens: note(
      'Let the API tokens live that the user made. They end otherwise; those of command lines always do.',
      optional(boolean()),
    ),
  }),
)
export type PasswordRequest = Sent<typeof PasswordRequest>

export const PeopleNames = named(
  'PeopleNames',
  '`GET /api/people`: what people are called, for whatever names them by their ids alone.',
  type({
    people: note(
      'Those who were asked for, service accounts too; who is gone is left out. Tokens without `reports:export` and `config:request` are told nobody.',
      array(type({ id: string(), name: string() })),
    ),
    administrators: note(
      'The three administrators who signed in last, by name: one of them is asked for what only they may. Empty for tokens.',
      array(string()),
    ),
  }),
)
export type PeopleNames = Infer<typeof PeopleNames>

export const UserRecord = named(
  'UserRecord',
  'A user as an administrator sees it.',
  type({
    id: string(),
    email: string(),
    groups: note('Group names, sorted.', array(string())),
    created_at: string(),
    signs_in_with: note('Absent for whoever has only a password.', optional(enums(['provider']))),
    groups_from: note(
      'Where the groups come from, if nobody can change them here; absent otherwise.',
      optional(enums(['provider'])),
    ),
    has_password: note('False for whoever has none here; absent otherwise.', optional(literal(false))),
    last_login_at: optional(string()),
  }),
)
export type UserRecord = Infer<typeof UserRecord>

export const UserCreateRequest = named(
  'UserCreateRequest',
  'Body of `POST /api/users`.',
  type({
    email: defaulted(string(), ''),
    password: defaulted(string(), ''),
    groups: defaulted(texts(1_000), () => []),
  }),
)
export type UserCreateRequest = Sent<typeof UserCreateRequest>

export const UserUpdateRequest = named(
  'UserUpdateRequest',
  'Body of `PATCH /api/users/{id}`.',
  type({ groups: optional(texts(1_000)), password: optional(string()) }),
)
export type UserUpdateRequest = Sent<typeof UserUpdateRequest>

export const ApiTokenRecord = named(
  'ApiTokenRecord',
  'A token for machines, without the token itself.',
  type({
    id: string(),
    name: string(),
    permissions: note('What it may do at most; what its holder lacks, it lacks as well.', array(string())),
    created_at: string(),
    expires_at: string(),
    last_used_at: note('To the minute; absent while it was never used.', optional(string())),
    is_login: note('A command line got it by a sign-in.', optional(boolean())),
    made_by: note(
      'What whoever made it was called then, who therefore saw it; absent where that is not known.',
      optional(string()),
    ),
  }),
)
export type ApiTokenRecord = Infer<typeof ApiTokenRecord>

export const ApiTokenCreated = named(
  'ApiTokenCreated',
  'A new token. `token` is told this once; it is not stored.',
  type({ ...ApiTokenRecord.schema, token: string() }),
)
export type ApiTokenCreated = Infer<typeof ApiTokenCreated>

export const ApiTokenRequest = named(
  'ApiTokenRequest',
  'Body of `POST /api/tokens` and `POST /api/service-accounts/{id}/tokens`; `expires_at` is at most a year away.',
  type({
    name: defaulted(string(), ''),
    permissions: defaulted(texts(1_000), () => []),
    expires_at: defaulted(string(), ''),
  }),
)
export type ApiTokenRequest = Sent<typeof ApiTokenRequest>

export const CommandLineLoginRequest = named(
  'CommandLineLoginRequest',
  'Body of `POST /api/auth/command-line`: what the command line put into the address of the page.',
  type({
    challenge: note('PKCE, S256.', defaulted(string(), '')),
    state: defaulted(string(), ''),
    port: note('Where it listens on 127.0.0.1.', defaulted(number(), 0)),
    machine: note('What it calls its machine.', defaulted(string(), '')),
  }),
)
export type CommandLineLoginRequest = Sent<typeof CommandLineLoginRequest>

export const CommandLineLoginConfirmed = named(
  'CommandLineLoginConfirmed',
  'Answer of `POST /api/auth/command-line`; always an address of the machine that the browser runs on.',
  type({ redirect_to: string() }),
)
export type CommandLineLoginConfirmed = Infer<typeof CommandLineLoginConfirmed>

export const CommandLineTokenRequest = named(
  'CommandLineTokenRequest',
  'Body of `POST /api/auth/command-line/token`.',
  type({ code: defaulted(string(), ''), verifier: defaulted(string(), '') }),
)

export const CommandLineToken = named(
  'CommandLineToken',
  'An API token of the person who confirmed it. It is told this once.',
  type({ token: string(), email: string(), expires_at: string() }),
)
export type CommandLineToken = Infer<typeof CommandLineToken>

export const ServiceAccountOwner = named(
  'ServiceAccountOwner',
  'The person who answers for a service account.',
  type({ id: string(), email: string() }),
)

export const ServiceAccountRecord = named(
  'ServiceAccountRecord',
  'An account that machines use through its tokens; nobody can sign in as one.',
  type({
    id: string(),
    name: string(),
    owner: note(
      'Absent once the owner was removed: then its tokens do not work.',
      optional(ServiceAccountOwner),
    ),
    groups: note('Group names, sorted.', array(string())),
    created_at: string(),
  }),
)
export type ServiceAccountRecord = Infer<typeof ServiceAccountRecord>

export const ServiceAccountChanged = named(
  'ServiceAccountChanged',
  'A service account as it is after a change.',
  type({
    ...ServiceAccountRecord.schema,
    tokens_of_former_owner: note(
      'After a change of the owner: tokens that work still and that the former owner made, or an account that is gone or not known. Whoever made them has them: revoke them, once others are in their place.',
      optional(array(ApiTokenRecord)),
    ),
  }),
)
export type ServiceAccountChanged = Infer<typeof ServiceAccountChanged>

export const ServiceAccountCreateRequest = named(
  'ServiceAccountCreateRequest',
  'Body of `POST /api/service-accounts`.',
  type({
    name: defaulted(string(), ''),
    owner_id: defaulted(string(), ''),
    groups: defaulted(texts(1_000), () => []),
  }),
)
export type ServiceAccountCreateRequest = Sent<typeof ServiceAccountCreateRequest>

export const ServiceAccountUpdateRequest = named(
  'ServiceAccountUpdateRequest',
  'Body of `PATCH /api/service-accounts/{id}`.',
  type({ owner_id: optional(string()), groups: optional(texts(1_000)) }),
)
export type ServiceAccountUpdateRequest = Sent<typeof ServiceAccountUpdateRequest>

export const SignInRefusal = named(
  'SignInRefusal',
  'Why the identity provider did not sign this browser in; `reason` is absent where nothing went wrong.',
  type({
    reason: optional(enums(SIGN_IN_REFUSALS)),
    groups: note('Of `no_group`: the groups that came.', optional(array(string()))),
    mapped_to_missing: note(
      'Of `no_group`: the settings map some of them to groups that muster does not have.',
      optional(literal(true)),
    ),
  }),
)
export type SignInRefusal = Infer<typeof SignInRefusal>

export const LinkRequestRecord = named(
  'LinkRequestRecord',
  'Somebody of the identity provider has the e-mail of a local user.',
  type({
    id: string(),
    user_id: string(),
    email: string(),
    issuer: string(),
    subject: string(),
    requested_at: string(),
  }),
)
export type LinkRequestRecord = Infer<typeof LinkRequestRecord>
