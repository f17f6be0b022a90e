/// The programs that are never looked into.
package struct ProgramList: Sendable {
  /// Password managers, and what asks for passwords.
  private static let secretKeepers = [
    "keepassxc", "keepassx", "keepass2", "bitwarden", "1password", "gcr-prompter", "gcr4-ssh-askpass",
    "gcr-ssh-askpass",
    "pinentry", "polkit-gnome-authentication-agent-1", "polkit-kde-authentication-agent-1",
    "polkit-mate-authentication-agent-1", "lxpolkit", "lxqt-policykit-agent", "xfce-polkit", "ssh-askpass", "seahorse",
    "gnome-keyring", "kwalletd", "kwalletd5", "kwalletd6", "ksshaskpass", "swaylock", "i3lock", "xscreensaver",
  ]

  private let names: Set<String>

  /// Those, and `others`.
  package init(others: [String]) { names = Set((Self.secretKeepers + others).map { $0.lowercased() }) }

  /// Whether a program that goes by `candidates` is one of them: names, or paths, of it.
  package func contains(_ candidates: [String]) -> Bool {
    candidates.contains { candidate in
      let name = candidate.split(separator: "/").last.map { $0.lowercased() } ?? ""
      if names.contains(name) || name.hasPrefix("pinentry-") { return true }
      // The kernel keeps 15 bytes of a program's name.
      return name.utf8.count == 15 && names.contains { $0.hasPrefix(name) }
    }
  }
}
