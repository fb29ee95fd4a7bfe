module proofka.example/lines

go 1.21
