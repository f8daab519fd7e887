import { defineTexts } from './define.ts'
import { formatNumber } from './format.ts'

/** Texts of the sign-in page. */
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
    unanswered:
      'The server gave no answer when you came back from the identity provider: it was being replaced. Sign in once more.',
    refused: {
      provider_away: 'The identity provider does not answer. Try again in a moment.',
      provider_refused:
        'What the identity provider sent does not hold. Try again; if it stays, tell your administrator.',
      sign_in_cancelled: 'The identity provider did not let you in.',
      sign_in_lost: 'This sign-in was begun elsewhere, is over, or was begun too long ago. Try again.',
      groups_overage:
        'You are in more groups than the identity provider sends. Your administrator can have it send only those that muster needs.',
      no_group: 'You are signed in with the identity provider, but none of your groups has access to muster.',
      link_requested:
        'There is a local user with your e-mail. An administrator has been asked whether that is you.',
      name_taken:
        'A user who is somebody else at the identity provider has your e-mail. An administrator has to remove or rename one of the two.',
      audit_unavailable: 'The audit log could not be written, so nobody can sign in just now.',
      login_limited: 'Too many sign-ins from your network are under way. Wait a moment, then try again.',
    } as Record<string, string>,
    mappedToMissing:
      'Some of them are mapped to a group that muster does not have: an administrator can make it, or correct the mapping; the log names it.',
    groupsCame: 'Your groups',
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
    unanswered:
      'Le serveur n’a pas répondu à votre retour du fournisseur d’identité : on le remplaçait. Connectez-vous encore une fois.',
    refused: {
      provider_away: 'Le fournisseur d’identité ne répond pas. Réessayez dans un moment.',
      provider_refused:
        'Ce que le fournisseur d’identité a envoyé n’est pas valable. Réessayez ; si cela dure, prévenez votre administrateur.',
      sign_in_cancelled: 'Le fournisseur d’identité ne vous a pas laissé entrer.',
      sign_in_lost:
        'Cette connexion a commencé ailleurs ou il y a trop longtemps, ou elle est terminée. Réessayez.',
      groups_overage:
        'Vous êtes dans plus de groupes que le fournisseur d’identité n’en envoie. Votre administrateur peut lui faire envoyer ceux dont muster a besoin.',
      no_group: 'Le fournisseur d’identité vous connaît, mais aucun de vos groupes n’a accès à muster.',
      link_requested: 'Un utilisateur local a votre courriel. Un administrateur doit dire si c’est vous.',
      name_taken:
        'Un utilisateur qui est quelqu’un d’autre chez le fournisseur d’identité a votre courriel. Un administrateur doit supprimer ou renommer l’un des deux.',
      audit_unavailable:
        'Le journal d’audit n’a pas pu être écrit ; personne ne peut se connecter à l’instant.',
      login_limited:
        'Trop de connexions venues de votre réseau sont en cours. Attendez un instant, puis réessayez.',
    },
    mappedToMissing:
      'Certains mènent à un groupe que muster n’a pas : un administrateur peut le créer ou corriger la correspondance ; le journal technique le nomme.',
    groupsCame: 'Vos groupes',
    noMethods: 'Le serveur ne propose aucun moyen de connexion.',
    language: 'English',
  },
})
