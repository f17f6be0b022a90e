import Glibc

exit(Program.main().rawValue)
