// Keys of well-known services, known by their shape: for secrets that nobody declared. Every repetition is bounded or runs
// over characters that cannot start another match, so the time stays linear in the text.

const shapes: readonly [RegExp, string][] = [
  [
    /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:[A-Za-z0-9+/=\s:,.]|-(?!-)|\\[nr])*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
    '[secret]',
  ],
  [/\b(Bearer\s{1,5})[\w.~+/-]{16,4000}={0,2}/gi, '$1[secret]'],
  [/\b(authorization["']{0,2}\s{0,3}[:=]\s{0,3}["']{0,2}(?:\w{1,20}\s{1,3})?)[\w.~+/=-]{8,4000}/gi, '$1[secret]'],
  [/(:\/\/[^\s/:@]{0,100}:)[^\s/@]{1,200}@/g, '$1[secret]@'],
  // OpenAI, Anthropic, Stripe and many who follow them
  [/\bsk-(?=[\w-]{0,60}\d)[\w-]{20,300}/g, '[secret]'],
  [/\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,300}/g, '[secret]'],
  // Hugging Face, Tinker, Fireworks, RunPod: letters and digits only, unlike names in code
  [/\b(?:hf_|tml-|fw_|rpa_)(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{20,300}/g, '[secret]'],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, '[secret]'],
  [/\bAIza[\w-]{35}/g, '[secret]'],
  [/\bgh[pousr]_[A-Za-z0-9]{36,255}/g, '[secret]'],
  [/\bgithub_pat_\w{22,255}/g, '[secret]'],
  [/\bxox[abposr]-[\w-]{10,250}/g, '[secret]'],
  // JSON Web Token
  [/\beyJ[\w-]{10,500}\.eyJ[\w-]{10,4000}\.[\w-]{10,1000}/g, '[secret]'],
]

/** Replaces what looks like a key, a token or a password in a URL by `[secret]`. */
export function maskKeys(text: string): string {
  let masked = text
  for (const [shape, mask] of shapes) masked = masked.replace(shape, mask)
  return masked
}
