import { defineTexts } from './define.ts'
import { formatNumber } from './format.ts'

export const loginTexts = defineTexts({
  en: {
    title: 'Sign in',
    lead: 'The fleet of your OpenTelemetry Collectors',
    email: 'E-mail',
    password: 'Password',
    submit: 'Sign in',
    busy: 'Signing in…',
    wrong: 'This e-mail and password do not fit together.',
    limited: (seconds: number | null) =>
      seconds === null
        ? 'Too many attempts. Wait a minute, then try again.'
        : `Too many attempts. Try again in ${formatNumber(seconds)} s.`,
    away: 'The server does not answer. Nothing was checked; try again when it is back.',
    unavailable: 'The server cannot sign anybody in just now. Try again in a moment.',
    expired: 'Your session has ended. Sign in again; you come back to where you were.',
    required: 'Fill in e-mail and password.',
    with: (name: string) => `Continue with ${name}`,
    noMethods: 'The server offers no way to sign in.',
    language: 'Français',
  },
  fr: {
    title: 'Connexion',
    lead: 'Le parc de vos OpenTelemetry Collectors',
    email: 'Courriel',
    password: 'Mot de passe',
    submit: 'Se connecter',
    busy: 'Connexion…',
    wrong: 'Ce courriel et ce mot de passe ne vont pas ensemble.',
    limited: (seconds: number | null) =>
      seconds === null
        ? 'Trop de tentatives. Attendez une minute, puis réessayez.'
        : `Trop de tentatives. Réessayez dans ${formatNumber(seconds)} s.`,
    away: 'Le serveur ne répond pas. Rien n’a été vérifié ; réessayez à son retour.',
    unavailable: 'Le serveur ne peut connecter personne à l’instant. Réessayez dans un moment.',
    expired: 'Votre session est terminée. Reconnectez-vous ; vous reviendrez où vous étiez.',
    required: 'Indiquez le courriel et le mot de passe.',
    with: (name: string) => `Continuer avec ${name}`,
    noMethods: 'Le serveur ne propose aucun moyen de connexion.',
    language: 'English',
  },
})
