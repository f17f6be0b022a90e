/// The version of this program.
enum Version {
  static let current = "0.1.0"
}
