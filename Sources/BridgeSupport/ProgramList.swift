/// The programs that are never looked into.
package struct ProgramList: Sendable {
  /// Password managers, and what asks for passwords.
  private static let secretKeepers = [
    "keepassxc", "keepassx", "keepass2", "bitwarden", "1password", "onepassword", "gcr-prompter", "gcr4-ssh-askpass",
    "gcr-ssh-askpass", "gnome-ssh-askpass", "gnome-ssh-askpass3", "x11-ssh-askpass", "lxqt-openssh-askpass", "secrets",
    "org.gnome.World.Secrets", "pwsafe", "qtpass", "revelation", "kwalletmanager", "kwalletmanager5", "lxqt-sudo",
    "kdesu",
    "pinentry", "polkit-gnome-authentication-agent-1", "polkit-kde-authentication-agent-1",
    "polkit-mate-authentication-agent-1", "lxpolkit", "lxqt-policykit-agent", "xfce-polkit", "ssh-askpass", "seahorse",
    "gnome-keyring", "kwalletd", "kwalletd5", "kwalletd6", "ksshaskpass", "swaylock", "i3lock", "xscreensaver",
    "kscreenlocker_greet", "gtklock", "hyprlock", "waylock", "xfce4-screensaver-dialog", "mate-screensaver-dialog",
    "cinnamon-screensaver", "hyprpolkitagent",
  ]

  /// What draws the frames of other programs' windows: GNOME's, since version 44, for windows of X11; and window managers whose
  /// list of windows takes the keyboard in each switch.
  private static let frameDrawers: Set<String> = ["mutter-x11-frames", "xfwm4", "marco", "metacity"]

  /// Desktops that show windows in a switcher of their own, which has the keyboard in each switch; some tell of themselves as one
  /// window.
  private static let desktops: Set<String> = ["gnome-shell", "cinnamon", "kwin_wayland", "kwin_x11"]

  private let names: Set<String>
  private let secretNames: Set<String>

  /// Those, and `others`; of those that `secret` names, all texts are secrets.
  package init(others: [String], secret: [String] = []) {
    names = Set((Self.secretKeepers + others).map { $0.lowercased() })
    secretNames = Set(secret.map { $0.lowercased() })
  }

  /// Whether a program that goes by `candidates` draws the frames of other programs' windows.
  package static func drawsFrames(_ candidates: [String]) -> Bool {
    candidates.contains { name($0, isAmong: frameDrawers) }
  }

  /// Whether a program that goes by `candidates` is a desktop, of which only what holds a value is shown.
  package static func isDesktop(_ candidates: [String]) -> Bool {
    candidates.contains { name($0, isAmong: desktops) }
  }

  /// Whether all texts of a program that goes by `candidates` are secrets.
  package func areSecret(_ candidates: [String]) -> Bool {
    candidates.contains { Self.name($0, isAmong: secretNames) }
  }

  /// Whether a program that goes by `candidates` is one of them: names, or paths, of it.
  package func contains(_ candidates: [String]) -> Bool {
    candidates.contains { candidate in
      Self.last(of: candidate).hasPrefix("pinentry-") || Self.name(candidate, isAmong: names)
    }
  }

  private static func last(of path: String) -> String { path.split(separator: "/").last.map { $0.lowercased() } ?? "" }

  private static func name(_ candidate: String, isAmong names: Set<String>) -> Bool {
    let name = last(of: candidate)
    if names.contains(name) { return true }
    // The kernel keeps 15 bytes of a program's name.
    return name.utf8.count == 15 && names.contains { $0.hasPrefix(name) }
  }
}
