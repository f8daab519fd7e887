/** Body of `POST /api/auth/login`. */
export interface LoginRequest {
  email: string
  password: string
}

/** Answer of `POST /api/auth/login`; the cookie `om_session` holds the same token. */
export interface LoginResponse {
  token: string
}

/** One way to sign in. */
export interface AuthMethod {
  id: string
  type: 'password' | 'sso'
  display_name: string
  login_url: string
}

/** `GET /api/auth/methods`. */
export interface AuthMethods {
  methods: AuthMethod[]
}

export interface GroupRecord {
  id: string
  name: string
  role: string
  is_system: boolean
  created_at: string
}

export const THEMES = ['light', 'dark', 'system'] as const
export type Theme = (typeof THEMES)[number]
export const LANGUAGES = ['en', 'fr'] as const
export type Language = (typeof LANGUAGES)[number]

/** Body of `PUT /api/me/preferences`; both are required. */
export interface PreferencesRequest {
  theme: Theme
  language: Language
}

/** `updated_at` is absent until the preferences were stored once. */
export interface Preferences extends PreferencesRequest {
  user_id: string
  updated_at?: string
}

/** `GET /api/me`. */
export interface Me {
  id: string
  email: string
  groups: GroupRecord[]
  /** Sorted permission strings. */
  permissions: string[]
  preferences: Preferences
}

/** Body of `PUT /api/me/password`. */
export interface PasswordRequest {
  current_password: string
  new_password: string
}

/** A user as an administrator sees it. */
export interface UserRecord {
  id: string
  email: string
  /** Group names, sorted. */
  groups: string[]
  created_at: string
  last_login_at?: string
}

/** Body of `POST /api/users`. */
export interface UserCreateRequest {
  email: string
  password: string
  groups: string[]
}

/** Body of `PATCH /api/users/{id}`. */
export interface UserUpdateRequest {
  groups?: string[]
  password?: string
}
